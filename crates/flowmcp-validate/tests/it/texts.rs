//! The findings of a file with many mistakes, as an author sees them.

use std::fmt::Write;

use flowmcp_spec::{Blocks, SourceFile, read};
use flowmcp_validate::{Options, validate, validate_schema};

const MISTAKES: &str = "\
export const main = {
    namespace: 'Open-Meteo 2',
    name: 'open meteo',
    desciption: 'Weather',
    version: '2.0.0',
    root: 'http://api.example.com/',
    tags: [ 'Weather' ],
    requiredServerParams: 'API_KEY',
    tools: {
        getWeather: {
            method: 'Get',
            path: 'v1/{{city}}',
            description: '',
            parameters: [
                { position: { key: 'city', value: '{{USER_PARAM}}', location: 'inserts' }, z: { primitive: 'string()' } },
                { position: { key: 'days', location: 'query' }, z: { primitiv: 'number()', options: 'min(1)' } },
                'limit'
            ],
            output: { mimeType: 'text/html', schema: { type: 'strng', properties: [] } },
            tests: [ 'Berlin' ]
        },
        getAlerts: 'GET /alerts'
    }
}

export const handlers = ( { libraries } ) => ({
    getWheather: {
        postRequest: async ( { response } ) => ({ response: libraries.moment( response ) })
    },
    getWeather: {
        postRequests: async ( { response } ) => ({ response: await fetch( process.env.URL ) })
    }
})
";

#[test]
fn many_mistakes() {
    let file = SourceFile::new("weather.mjs", MISTAKES);
    let validated = validate(&file, read(&file), &Options::default());
    let mut text = String::new();
    for finding in &validated.diagnostics {
        let (line, column) = finding.span.map_or((0, 0), |span| file.line_column(span.start));
        let blocks = match &finding.blocks {
            Blocks::Nothing => String::new(),
            Blocks::Tool(tool) => format!(" [blocks {tool}]"),
            Blocks::File => " [blocks file]".to_owned(),
        };
        writeln!(text, "{line}:{column} {} {} {finding}{blocks}", finding.code, finding.severity.as_str())
            .unwrap();
        if let Some(help) = &finding.help {
            writeln!(text, "    {help}").unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_no_object_says_so() {
    let validation = validate_schema(&serde_json::json!([1]));
    assert_eq!(
        (validation.status, &*validation.messages),
        (false, &["main: must be an object (found an array)".to_owned()][..])
    );
}

/// More findings than anyone reads are cut, and what they would have blocked stays blocked.
#[test]
fn findings_are_bounded() {
    let parameters = "0,".repeat(5_000);
    let tool = |name: &str| {
        format!("{name}: {{ method: 'GET', path: '/', description: 'x', parameters: [{parameters}] }}")
    };
    let text = format!(
        "export const main = {{ namespace: 'demo', name: 'Demo', description: 'x', version: '3.0.0',
        root: 'https://api.example.com', tools: {{ {}, {} }} }}",
        tool("first"),
        tool("second"),
    );
    let file = SourceFile::new("many.mjs", &text);
    let validated = validate(&file, read(&file), &Options::default());
    assert!(validated.diagnostics.len() < 200, "{}", validated.diagnostics.len());
    assert!(validated.tool_blocked("first").is_some() && validated.tool_blocked("second").is_some());
}

/// Older files read a library by its short name, without taking it from `libraries`.
#[test]
fn a_short_name_is_its_library() {
    let text = "export const main = { namespace: 'demo', name: 'Demo', description: 'x', version: '3.0.0',
        root: 'https://api.example.com', requiredLibraries: [ 'indicatorts' ], tools: {
            average: { method: 'GET', path: '/', description: 'x', parameters: [] },
            plain: { method: 'GET', path: '/', description: 'x', parameters: [] } } }
        export const handlers = () => ({
            average: { postRequest: async ( { response } ) => ({ response: indicators.sma( response ) }) } })";
    let file = SourceFile::new("average.mjs", text);
    let codes = |options: &Options| {
        let validated = validate(&file, read(&file), options);
        let codes: Vec<&str> = validated.diagnostics.iter().map(|finding| finding.code.0).collect();
        (validated.refused, codes.iter().filter(|code| code.starts_with("SEC")).copied().collect::<Vec<_>>())
    };
    assert_eq!(codes(&Options::default()), (vec!["average".into()], vec!["SEC020"]));
    let provided = Options { libraries: vec!["indicatorts".to_owned()], ..Options::default() };
    assert_eq!(codes(&provided), (Vec::new(), Vec::new()));
}

/// Words that a scan of the text would trip over are fine where they are no code.
#[test]
fn harmless_words_are_no_findings() {
    let text = "// Import: none. eval( 'x' ), require( 'fs' ), process.env
        export const main = { namespace: 'demo', name: 'Demo', description: 'how to import data with fetch( url )', version: '3.0.0',
        root: 'https://gbfs.global.example.test', tools: {
            stations: { method: 'GET', path: '/eval', description: 'Function( fs.stat )', parameters: [] } } }
        function getFunction( process ) { return process.env }
        export const handlers = () => ({
            stations: { postRequest: async ( { response } ) => {
                const { eval: evaluated, global } = response
                return { response: { evaluated, global, fs: response.fs.stat, f: getFunction( response ) } }
            } } })";
    let file = SourceFile::new("stations.mjs", text);
    let validated = validate(&file, read(&file), &Options::default());
    let codes: Vec<String> =
        validated.diagnostics.iter().map(|finding| format!("{} {finding}", finding.code)).collect();
    assert!(!codes.iter().any(|code| code.starts_with("SEC")), "{codes:?}");
    assert!(validated.refused.is_empty());
}
