//! The schemas of `schemas/handlers` that a reader learns from: each answers a made-up upstream as its text says.

use super::{
    project::{Project, repository},
    upstream::{Answer, Upstream},
};

/// Calls one tool of the pack: its whole result, and the requests that were made for it.
fn call(host: &str, answer: Answer, name: &str, arguments: &str) -> (String, Vec<String>) {
    let upstream = Upstream::answering(&[host], answer);
    let pack = repository().join("schemas/handlers");
    let project = upstream.project("").file(".env", "COMPANIES_HOUSE_API_KEY=a-key-of-the-register\n");
    let flags = ["--config", "config.toml", "--set", "log.level=warn", "--pack", pack.to_str().unwrap()];
    let ran = project.run(&[&flags[..], &["--grant", "fetch", "call", name, arguments]].concat());
    assert!(!ran.whole().contains("a-key-of-the-register"), "{}", ran.whole());
    assert_eq!(ran.code, Some(0), "{}", ran.whole());
    (ran.stdout, upstream.seen())
}

#[track_caller]
fn check(host: &str, answer: Answer, name: &str, arguments: &str, requests: &[&str], expected: &str) {
    let (result, seen) = call(host, answer, name, arguments);
    assert_eq!(seen, requests);
    assert_eq!(result, format!("{expected}\n"));
}

const JSON: &str = "application/json";

#[test]
fn pre_request_builds_a_path() {
    check(
        "wikimedia.org",
        |_| {
            (
                200,
                JSON,
                br#"{"items":[{"article":"Z\u00fcrich","timestamp":"2024020100","views":12345}]}"#.to_vec(),
            )
        },
        "wikimedia__getMonthlyViews",
        r#"{"article":"Zürich","month":"2024-02"}"#,
        &[
            "GET /api/rest_v1/metrics/pageviews/per-article/en.wikipedia/all-access/user/Z%C3%BCrich/daily/20240201/20240229",
        ],
        r#"{"items":[{"article":"Z\u00fcrich","timestamp":"2024020100","views":12345}]}"#,
    );
}

#[test]
fn a_shared_list_is_read_in_both_hooks() {
    check(
        "api.worldbank.org",
        |_| {
            let rows = r#"[{"page":1,"pages":1,"per_page":100,"total":3},[
                {"indicator":{"id":"SP.POP.TOTL","value":"Population, total"},"country":{"id":"DE","value":"Germany"},"date":"2017","value":82657002},
                {"indicator":{"id":"SP.POP.TOTL","value":"Population, total"},"country":{"id":"DE","value":"Germany"},"date":"2016","value":null},
                {"indicator":{"id":"SP.POP.TOTL","value":"Population, total"},"country":{"id":"DE","value":"Germany"},"date":"2015","value":81686611}]]"#;
            (200, JSON, rows.as_bytes().to_vec())
        },
        "worldbank__getYearlyValues",
        r#"{"country":"DE","indicator":"population","date":"2015:2017"}"#,
        &["GET /v2/country/DE/indicator/SP.POP.TOTL?date=2015%3A2017&format=json&per_page=100"],
        r#"{"country":"Germany","indicator":"Population, total","unit":"people","values":{"2015":81686611,"2017":82657002}}"#,
    );
}

#[test]
fn post_process_gives_text() {
    check(
        "date.nager.at",
        |_| {
            let weekends = r#"[{"startDate":"2026-04-03","endDate":"2026-04-06","dayCount":4,"needBridgeDay":false},
                {"startDate":"2026-05-14","endDate":"2026-05-17","dayCount":4,"needBridgeDay":true}]"#;
            (200, JSON, weekends.as_bytes().to_vec())
        },
        "nagerdate__listLongWeekends",
        r#"{"year":2026,"countryCode":"DE"}"#,
        &["GET /api/v3/LongWeekend/2026/DE"],
        "2026-04-03 to 2026-04-06: 4 days\n2026-05-14 to 2026-05-17: 4 days, with a day off in between",
    );
    check(
        "date.nager.at",
        |_| (200, JSON, b"[]".to_vec()),
        "nagerdate__listLongWeekends",
        r#"{"year":2026,"countryCode":"XX"}"#,
        &["GET /api/v3/LongWeekend/2026/XX"],
        "No long weekend in 2026.",
    );
}

#[test]
fn execute_request_reads_page_after_page() {
    let answer: Answer = |head| {
        let page = if head.contains("&page=2 ") { "2" } else { "1" };
        let body = r#"{"pagination":{"total":3,"total_pages":2},"data":[{"id":PAGE1,"title":"A","artist_display":"B","date_display":"1890"},{"id":PAGE2,"title":"C","artist_display":"D","date_display":"1891"}]}"#;
        (200, JSON, body.replace("PAGE", page).into_bytes())
    };
    check(
        "api.artic.edu",
        answer,
        "artic__searchArtworks",
        r#"{"q":"water lilies","limit":3}"#,
        &[
            "GET /api/v1/artworks/search?q=water+lilies&limit=3&fields=id%2Ctitle%2Cartist_display%2Cdate_display&page=1",
            "GET /api/v1/artworks/search?q=water+lilies&limit=3&fields=id%2Ctitle%2Cartist_display%2Cdate_display&page=2",
        ],
        r#"{"total":3,"works":[{"id":11,"title":"A","artist":"B","date":"1890"},{"id":12,"title":"C","artist":"D","date":"1891"},{"id":21,"title":"A","artist":"B","date":"1890"}]}"#,
    );
}

#[test]
fn a_key_goes_into_a_header_that_the_handler_computes() {
    let answer: Answer = |head| {
        // The base64 form of "a-key-of-the-register:".
        let is_right =
            head.to_ascii_lowercase().contains("authorization: basic ys1rzxktb2ytdghllxjlz2lzdgvyog==");
        let body = r#"{"items":[{"company_number":"00445790","title":"TESCO PLC","company_status":"active","address_snippet":"Welwyn Garden City","kind":"x"}]}"#;
        if is_right { (200, JSON, body.as_bytes().to_vec()) } else { (401, JSON, b"{}".to_vec()) }
    };
    check(
        "api.company-information.service.gov.uk",
        answer,
        "companieshouse__searchCompanies",
        r#"{"q":"tesco"}"#,
        &["GET /search/companies?q=tesco&items_per_page=10"],
        r#"[{"number":"00445790","name":"TESCO PLC","status":"active","address":"Welwyn Garden City"}]"#,
    );
}

#[test]
fn csv_becomes_rows() {
    let arguments = r#"{"currency":"USD","startPeriod":"2024-01-02","endPeriod":"2024-01-03"}"#;
    let request =
        "GET /service/data/EXR/D.USD.EUR.SP00.A?startPeriod=2024-01-02&endPeriod=2024-01-03&format=csvdata";
    check(
        "data-api.ecb.europa.eu",
        |_| {
            let csv = "KEY,TIME_PERIOD,OBS_VALUE,TITLE_COMPL\r\nEXR.D.USD,2024-01-02,1.0956,\"Reference rate, \"\"US dollar\"\"/Euro\"\r\n\
                       EXR.D.USD,2024-01-03,1.09190000000000000001,\"Reference rate, \"\"US dollar\"\"/Euro\"\r\n";
            (200, "text/csv", csv.as_bytes().to_vec())
        },
        "ecb__getRates",
        arguments,
        &[request],
        r#"{"title":"Reference rate, \"US dollar\"/Euro","rates":[{"day":"2024-01-02","rate":"1.0956"},{"day":"2024-01-03","rate":"1.09190000000000000001"}]}"#,
    );
    check(
        "data-api.ecb.europa.eu",
        |_| (200, "text/csv", Vec::new()),
        "ecb__getRates",
        arguments,
        &[request],
        r#"{"title":"","rates":[]}"#,
    );
}

/// What the page of the pack says of its tools is what they are.
#[test]
fn every_tool_of_the_pack_is_described() {
    let page = std::fs::read_to_string(repository().join("schemas/README.md")).unwrap();
    let pack = repository().join("schemas/handlers");
    let listed = Project::new().run(&[
        "--pack",
        pack.to_str().unwrap(),
        "--grant",
        "fetch",
        "list",
        "--all",
        "--json",
    ]);
    let tools = listed.code(0).json()["tools"].as_array().unwrap().clone();
    assert_eq!(tools.len(), 6);
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(page.contains(&format!("| `{name}` |")), "{name} is not in schemas/README.md");
    }
}
