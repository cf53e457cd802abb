//! The list of all rules. One rule is one entry here, its check, and its page `rules/CODE.md`.

mod agents;
pub(crate) mod catalogue;
pub(crate) mod code;
mod crossing;
mod declared_lists;
mod handlers;
mod identity;
mod ids;
mod list_graph;
mod lists;
mod output;
mod placeholders;
mod preload;
mod prompts;
mod references;
mod resources;
mod root;
mod skills;
mod tests;
mod tools;
mod unknown;

use flowmcp_spec::{Code, Severity};

use crate::{
    Rule, Scope,
    fields::{Shape, optional, required},
    rule::Check,
    subject::Kind,
};
use Scope::{File, Nothing, Tool};
use Severity::{Error, Hint, Warning};
use code::Names;

/// The page of a rule, to read on a terminal: what it asks for, why, and examples.
///
/// Codes of the public specification that are called otherwise here lead to their page, too.
pub fn explain(code: &str) -> Option<&'static str> {
    let renamed = || crate::reference::covering(code).and_then(rule);
    rule(code).or_else(renamed).map(|rule| rule.page)
}

/// The rule with a code.
pub fn rule(code: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.code.0.eq_ignore_ascii_case(code))
}

/// An entry: code, page, severity, scope, chapter, check.
const fn entry(
    (code, page): (&'static str, &'static str),
    severity: Severity,
    blocks: Scope,
    chapter: &'static str,
    check: Check,
) -> Rule {
    Rule { code: Code(code), severity, blocks, chapter, page, check }
}

/// A code with its page; the file's name is the code.
macro_rules! page {
    ($code:literal) => {
        ($code, include_str!(concat!("../rules/", $code, ".md")))
    };
}

/// All rules, in the order of their codes.
#[rustfmt::skip]
pub const RULES: &[Rule] = &[
    // The file as a whole
    entry(page!("VAL000"), Error, File, "01", Check::Reading),
    entry(page!("VAL001"), Error, File, "01", Check::Reading),
    entry(page!("VAL002"), Error, File, "01", Check::Reading),
    entry(page!("VAL003"), Warning, Nothing, "01", Check::Any(unknown::fields)),
    entry(page!("VAL004"), Error, File, "01", Check::Schema(handlers::factory)),
    entry(page!("VAL005"), Warning, Nothing, "01", Check::Schema(handlers::handled_tools)),
    entry(page!("VAL006"), Warning, Nothing, "01", Check::Schema(handlers::hooks)),
    // Names and required fields of main
    entry(page!("VAL007"), Warning, Nothing, "01", Check::Schema(identity::schema_name)),
    entry(page!("VAL008"), Warning, Nothing, "01", Check::Schema(identity::tags)),
    entry(page!("VAL009"), Warning, Nothing, "01", Check::Schema(root::local)),
    entry(page!("VAL010"), Error, File, "01", Check::Fields(&[required(Kind::Main, "namespace", Shape::Text)])),
    entry(page!("VAL011"), Error, File, "01", Check::Schema(identity::namespace)),
    entry(page!("VAL012"), Error, File, "01", Check::Fields(&[required(Kind::Main, "name", Shape::Text)])),
    entry(page!("VAL013"), Error, File, "01", Check::Fields(&[required(Kind::Main, "description", Shape::Text)])),
    entry(page!("VAL014"), Error, File, "01", Check::Schema(identity::version)),
    entry(page!("VAL015"), Error, File, "01", Check::Schema(root::present)),
    entry(page!("VAL016"), Error, File, "01", Check::Schema(tools::tools)),
    entry(page!("VAL017"), Error, File, "01", Check::Schema(tools::both_keys)),
    entry(page!("VAL018"), Warning, Nothing, "01", Check::Schema(tools::old_key)),
    entry(page!("VAL019"), Error, File, "08", Check::Reading),
    // Optional fields of main, and its root
    entry(page!("VAL020"), Error, Nothing, "01", Check::Fields(&[optional(Kind::Main, "docs", Shape::Texts)])),
    entry(page!("VAL021"), Error, Nothing, "01", Check::Fields(&[optional(Kind::Main, "tags", Shape::Texts)])),
    entry(page!("VAL022"), Error, File, "01", Check::Fields(&[optional(Kind::Main, "requiredServerParams", Shape::Texts)])),
    entry(page!("VAL023"), Error, File, "01", Check::Fields(&[
        optional(Kind::Main, "headers", Shape::TextMap),
        optional(Kind::Tool, "headers", Shape::TextMap),
    ])),
    entry(page!("VAL024"), Error, File, "03", Check::Fields(&[optional(Kind::Main, "sharedLists", Shape::References)])),
    entry(page!("VAL025"), Error, File, "01", Check::Fields(&[optional(Kind::Main, "requiredLibraries", Shape::Texts)])),
    entry(page!("VAL027"), Error, File, "01", Check::Schema(root::https)),
    entry(page!("VAL028"), Error, Nothing, "01", Check::Schema(root::trailing_slash)),
    entry(page!("VAL029"), Error, File, "01", Check::Schema(root::callable)),
    // Tools
    entry(page!("VAL030"), Warning, Nothing, "01", Check::Schema(identity::tool_names)),
    entry(page!("VAL031"), Error, Nothing, "01", Check::Schema(tools::count)),
    entry(page!("VAL032"), Error, Tool, "01", Check::Schema(tools::method)),
    entry(page!("VAL033"), Error, Tool, "01", Check::Schema(tools::path)),
    entry(page!("VAL034"), Error, Tool, "01", Check::Fields(&[required(Kind::Tool, "description", Shape::Text)])),
    entry(page!("VAL035"), Error, Tool, "01", Check::Fields(&[required(Kind::Tool, "parameters", Shape::Array)])),
    entry(page!("VAL036"), Warning, Nothing, "04", Check::Schema(tools::output)),
    entry(page!("VAL037"), Hint, Nothing, "07", Check::Schema(tools::reserved)),
    entry(page!("VAL039"), Error, Tool, "01", Check::Schema(tools::objects)),
    // Parameters
    entry(page!("VAL040"), Error, Tool, "02", Check::Schema(tools::parameters)),
    entry(page!("VAL041"), Error, Tool, "02", Check::Fields(&[required(Kind::Position, "key", Shape::Text)])),
    entry(page!("VAL042"), Error, Tool, "02", Check::Fields(&[required(Kind::Position, "value", Shape::AnyText)])),
    entry(page!("VAL043"), Error, Tool, "02", Check::Schema(tools::location)),
    entry(page!("VAL044"), Error, Tool, "02", Check::LoweringAnd(tools::primitive)),
    entry(page!("VAL045"), Error, Tool, "02", Check::LoweringAnd(tools::options)),
    entry(page!("VAL046"), Error, Tool, "02", Check::Lowering),
    entry(page!("VAL048"), Warning, Nothing, "02", Check::Lowered(declared_lists::declared)),
    entry(page!("VAL049"), Error, Tool, "02", Check::Activation),
    entry(page!("VAL050"), Error, Tool, "02", Check::Lowering),
    entry(page!("VAL051"), Error, Tool, "02", Check::Lowering),
    entry(page!("VAL052"), Error, Tool, "02", Check::Lowering),
    entry(page!("VAL053"), Error, Tool, "02", Check::Lowering),
    entry(page!("VAL054"), Warning, Nothing, "02", Check::Lowering),
    entry(page!("VAL055"), Error, Tool, "02", Check::Lowering),
    entry(page!("VAL056"), Warning, Nothing, "02", Check::Lowering),
    entry(page!("VAL057"), Error, Tool, "01", Check::Lowering),
    entry(page!("VAL058"), Error, Tool, "01", Check::Lowering),
    entry(page!("VAL059"), Warning, Nothing, "02", Check::Fields(&[
        optional(Kind::Parameter, "description", Shape::AnyText),
        optional(Kind::Z, "description", Shape::AnyText),
        optional(Kind::Output, "description", Shape::AnyText),
    ])),
    // Output
    entry(page!("VAL060"), Warning, Nothing, "04", Check::Schema(output::media_type)),
    entry(page!("VAL061"), Error, Nothing, "04", Check::Schema(output::schema_type)),
    entry(page!("VAL062"), Warning, Nothing, "04", Check::Schema(output::media_type_fits)),
    entry(page!("VAL063"), Warning, Nothing, "04", Check::Schema(output::depth)),
    entry(page!("VAL064"), Error, Nothing, "04", Check::Schema(output::properties)),
    entry(page!("VAL065"), Error, Nothing, "04", Check::Schema(output::items)),
    entry(page!("VAL066"), Warning, Nothing, "04", Check::Schema(output::keywords)),
    entry(page!("VAL067"), Error, Nothing, "04", Check::Fields(&[optional(Kind::Tool, "output", Shape::Object)])),
    // References to shared lists
    entry(page!("VAL070"), Error, File, "03", Check::Schema(references::reference_names)),
    entry(page!("VAL071"), Error, File, "03", Check::Schema(references::reference_versions)),
    entry(page!("VAL072"), Error, Tool, "03", Check::Activation),
    entry(page!("VAL073"), Error, Nothing, "03", Check::Activation),
    entry(page!("VAL074"), Error, File, "03", Check::Schema(references::reference_filters)),
    entry(page!("VAL075"), Warning, Nothing, "03", Check::Lowered(declared_lists::unused)),
    entry(page!("VAL076"), Warning, Nothing, "03", Check::Pack(list_graph::filters)),
    // Caching
    entry(page!("VAL080"), Error, Nothing, "11", Check::Fields(&[optional(Kind::Tool, "preload", Shape::Object)])),
    entry(page!("VAL081"), Error, Nothing, "11", Check::Fields(&[required(Kind::Preload, "enabled", Shape::Bool)])),
    entry(page!("VAL082"), Error, Nothing, "11", Check::Fields(&[required(Kind::Preload, "ttl", Shape::PositiveInteger)])),
    entry(page!("VAL083"), Warning, Nothing, "11", Check::Fields(&[optional(Kind::Preload, "description", Shape::AnyText)])),
    entry(page!("VAL084"), Hint, Nothing, "11", Check::Lowered(preload::ideal)),
    entry(page!("VAL085"), Warning, Nothing, "11", Check::Lowered(preload::described)),
    // Resources
    entry(page!("RES000"), Error, Nothing, "13", Check::Fields(&[
        optional(Kind::Main, "resources", Shape::Objects),
        optional(Kind::Resource, "queries", Shape::Objects),
    ])),
    entry(page!("RES001"), Error, Nothing, "13", Check::Schema(resources::source)),
    entry(page!("RES002"), Error, Nothing, "13", Check::Fields(&[required(Kind::Resource, "description", Shape::Text)])),
    entry(page!("RES003"), Error, Nothing, "13", Check::Schema(resources::mode)),
    entry(page!("RES004"), Error, Nothing, "13", Check::Schema(resources::origin)),
    entry(page!("RES005"), Error, Nothing, "13", Check::Schema(resources::file_name)),
    entry(page!("RES006"), Error, Nothing, "13", Check::Schema(resources::count)),
    entry(page!("RES007"), Error, Nothing, "13", Check::Schema(resources::query_count)),
    entry(page!("RES008"), Error, Nothing, "13", Check::Fields(&[required(Kind::Query, "sql", Shape::Text)])),
    entry(page!("RES009"), Error, Nothing, "13", Check::Fields(&[required(Kind::Query, "description", Shape::Text)])),
    entry(page!("RES010"), Error, Nothing, "13", Check::Schema(resources::parameters)),
    entry(page!("RES011"), Warning, Nothing, "13", Check::Schema(resources::output)),
    entry(page!("RES012"), Warning, Nothing, "13", Check::Schema(resources::tests)),
    entry(page!("RES013"), Error, Nothing, "13", Check::Schema(resources::reads_only)),
    entry(page!("RES014"), Error, Nothing, "13", Check::Schema(resources::bindings)),
    entry(page!("RES015"), Error, Nothing, "13", Check::Schema(resources::locations)),
    entry(page!("RES016"), Error, Nothing, "13", Check::Schema(resources::server_values)),
    entry(page!("RES017"), Warning, Nothing, "13", Check::Schema(resources::resource_names)),
    entry(page!("RES018"), Warning, Nothing, "13", Check::Schema(resources::query_names)),
    entry(page!("RES019"), Error, Nothing, "13", Check::Schema(resources::scalars)),
    entry(page!("RES020"), Warning, Nothing, "13", Check::Pack(crossing::resource_files)),
    entry(page!("RES021"), Error, Nothing, "13", Check::Schema(resources::rows)),
    entry(page!("RES024"), Hint, Nothing, "13", Check::Schema(resources::described)),
    entry(page!("RES025"), Error, Nothing, "13", Check::Schema(resources::written_in_project)),
    entry(page!("RES026"), Error, Nothing, "13", Check::Schema(resources::document_mode)),
    entry(page!("RES027"), Error, Nothing, "13", Check::Schema(resources::document_queries)),
    entry(page!("RES028"), Warning, Nothing, "13", Check::Schema(resources::database_in_pack)),
    // Skills
    entry(page!("SKL000"), Error, Nothing, "14", Check::Fields(&[
        optional(Kind::Main, "skills", Shape::ManyObjects),
        optional(Kind::Skill, "requires", Shape::Object),
        optional(Kind::Requires, "tools", Shape::Texts),
        optional(Kind::Requires, "resources", Shape::Texts),
        optional(Kind::Requires, "external", Shape::Texts),
    ])),
    entry(page!("SKL001"), Error, Nothing, "14", Check::Pack(crossing::skill_kind)),
    entry(page!("SKL002"), Error, File, "14", Check::Any(skills::name)),
    entry(page!("SKL003"), Error, Nothing, "14", Check::Pack(crossing::skill_name)),
    entry(page!("SKL004"), Error, File, "14", Check::Any(skills::version)),
    entry(page!("SKL005"), Error, Nothing, "14", Check::Pack(crossing::required_tools)),
    entry(page!("SKL006"), Error, Nothing, "14", Check::Pack(crossing::required_resources)),
    entry(page!("SKL007"), Error, Nothing, "14", Check::Any(skills::description)),
    entry(page!("SKL008"), Error, Nothing, "14", Check::Any(skills::inputs_exist)),
    entry(page!("SKL009"), Error, Nothing, "14", Check::Any(skills::values)),
    entry(page!("SKL010"), Error, File, "14", Check::Any(skills::content)),
    entry(page!("SKL011"), Error, Nothing, "14", Check::Fields(&[required(Kind::Skill, "output", Shape::Text)])),
    entry(page!("SKL012"), Error, Nothing, "14", Check::Any(skills::input_keys)),
    entry(page!("SKL013"), Error, Nothing, "14", Check::Any(skills::input_types)),
    entry(page!("SKL014"), Error, Nothing, "14", Check::Fields(&[required(Kind::SkillInput, "description", Shape::Text)])),
    entry(page!("SKL015"), Error, Nothing, "14", Check::Fields(&[required(Kind::SkillInput, "required", Shape::Bool)])),
    entry(page!("SKL016"), Error, Nothing, "14", Check::Schema(skills::files)),
    entry(page!("SKL017"), Error, Nothing, "14", Check::Pack(crossing::skill_files)),
    entry(page!("SKL018"), Error, Nothing, "14", Check::Schema(skills::count)),
    entry(page!("SKL020"), Warning, Nothing, "14", Check::Any(skills::tools_are_required)),
    entry(page!("SKL021"), Warning, Nothing, "14", Check::Any(skills::resources_are_required)),
    entry(page!("SKL022"), Error, Nothing, "14", Check::Pack(crossing::named_skills)),
    entry(page!("SKL023"), Error, Nothing, "14", Check::Pack(crossing::skill_depth)),
    entry(page!("SKL024"), Warning, Nothing, "14", Check::Any(skills::tools_are_used)),
    entry(page!("SKL025"), Warning, Nothing, "14", Check::Any(skills::resources_are_used)),
    entry(page!("SKL026"), Error, Nothing, "14", Check::Any(skills::input_shapes)),
    entry(page!("SKL027"), Warning, Nothing, "14", Check::Pack(crossing::orphan)),
    // Prompts
    entry(page!("PRM000"), Error, Nothing, "12", Check::Fields(&[optional(Kind::Main, "prompts", Shape::Objects)])),
    entry(page!("PRM001"), Error, Nothing, "12", Check::Any(prompts::name)),
    entry(page!("PRM002"), Error, Nothing, "12", Check::Any(prompts::version)),
    entry(page!("PRM003"), Error, Nothing, "12", Check::Any(prompts::owner)),
    entry(page!("PRM004"), Error, Nothing, "12", Check::Any(prompts::tested)),
    entry(page!("PRM005"), Error, Nothing, "12", Check::Any(prompts::tested_with)),
    entry(page!("PRM006"), Error, Nothing, "12", Check::Pack(crossing::prompt_tools)),
    entry(page!("PRM007"), Error, Nothing, "12", Check::Pack(crossing::prompt_references)),
    entry(page!("PRM008"), Error, Nothing, "12", Check::Pack(crossing::prompt_depth)),
    entry(page!("PRM010"), Error, Nothing, "12", Check::Any(prompts::content)),
    entry(page!("PRM011"), Error, Nothing, "12", Check::Any(prompts::content_file)),
    entry(page!("PRM012"), Error, Nothing, "12", Check::Pack(crossing::prompt_files)),
    entry(page!("PRM013"), Error, Nothing, "12", Check::Any(prompts::references)),
    entry(page!("PRM014"), Error, Nothing, "12", Check::Any(prompts::description)),
    entry(page!("PRM015"), Error, Nothing, "12", Check::Any(prompts::depends_on)),
    // Placeholders in texts
    entry(page!("PH001"), Error, Nothing, "02", Check::Any(placeholders::empty)),
    entry(page!("PH002"), Warning, Nothing, "02", Check::Pack(crossing::placeholders)),
    entry(page!("PH003"), Error, Nothing, "02", Check::Any(placeholders::input_keys)),
    entry(page!("PH004"), Error, Nothing, "02", Check::Schema(placeholders::in_main)),
    entry(page!("PH005"), Warning, Nothing, "12", Check::Any(placeholders::brackets)),
    entry(page!("PH006"), Warning, Nothing, "12", Check::Any(placeholders::kinds)),
    // Agents
    entry(page!("AGT001"), Error, File, "06", Check::Any(agents::name)),
    entry(page!("AGT002"), Error, Nothing, "06", Check::Fields(&[required(Kind::Agent, "description", Shape::Text)])),
    entry(page!("AGT003"), Error, Nothing, "06", Check::Any(agents::model_name)),
    entry(page!("AGT004"), Error, File, "06", Check::Any(agents::version)),
    entry(page!("AGT005"), Error, Nothing, "06", Check::Fields(&[required(Kind::Agent, "systemPrompt", Shape::Text)])),
    entry(page!("AGT006"), Error, File, "06", Check::Any(agents::tools)),
    entry(page!("AGT007"), Error, Nothing, "06", Check::Pack(crossing::agent_ids)),
    entry(page!("AGT008"), Warning, Nothing, "06", Check::Any(agents::test_count)),
    entry(page!("AGT009"), Error, Nothing, "06", Check::Fields(&[required(Kind::AgentTest, "input", Shape::Text)])),
    entry(page!("AGT010"), Error, Nothing, "06", Check::Any(agents::expected_tools)),
    entry(page!("AGT012"), Warning, Nothing, "06", Check::Any(agents::breadth)),
    entry(page!("AGT013"), Error, Nothing, "06", Check::Any(agents::prompts)),
    entry(page!("AGT014"), Error, Nothing, "06", Check::Any(agents::skills)),
    entry(page!("AGT015"), Error, Nothing, "06", Check::Any(agents::resources)),
    entry(page!("AGT016"), Error, Nothing, "06", Check::AndPack(&Check::Any(agents::files), crossing::agent_files_exist)),
    entry(page!("AGT017"), Error, Nothing, "06", Check::Pack(crossing::agent_prompts)),
    entry(page!("AGT018"), Error, Nothing, "06", Check::Pack(crossing::agent_skills)),
    entry(page!("AGT019"), Error, Nothing, "06", Check::Any(agents::own_tools)),
    entry(page!("AGT020"), Error, Nothing, "06", Check::Any(agents::external)),
    entry(page!("AGT021"), Warning, Nothing, "06", Check::Any(agents::expects_own)),
    // Catalogues
    entry(page!("CAT001"), Warning, Nothing, "15", Check::Registry(catalogue::present)),
    entry(page!("CAT002"), Warning, Nothing, "15", Check::Registry(catalogue::name)),
    entry(page!("CAT003"), Error, Nothing, "15", Check::Registry(catalogue::lists_exist)),
    entry(page!("CAT004"), Error, Nothing, "15", Check::Registry(catalogue::schemas_exist)),
    entry(page!("CAT005"), Error, Nothing, "15", Check::Registry(catalogue::agents_exist)),
    entry(page!("CAT006"), Warning, Nothing, "15", Check::Registry(catalogue::orphans)),
    entry(page!("CAT007"), Error, Nothing, "15", Check::Registry(catalogue::schema_spec)),
    entry(page!("CAT008"), Error, Nothing, "15", Check::Registry(catalogue::duplicates)),
    entry(page!("CAT009"), Error, Nothing, "15", Check::Registry(catalogue::inside)),
    entry(page!("CAT010"), Error, Nothing, "15", Check::Registry(catalogue::shape)),
    entry(page!("CAT011"), Warning, Nothing, "15", Check::Registry(catalogue::agree)),
    // IDs
    entry(page!("ID001"), Error, Nothing, "16", Check::Any(ids::separated)),
    entry(page!("ID002"), Error, Nothing, "16", Check::Any(ids::namespaces)),
    entry(page!("ID003"), Error, Nothing, "16", Check::Any(ids::types)),
    entry(page!("ID004"), Error, Nothing, "16", Check::Any(ids::names)),
    entry(page!("ID005"), Warning, Nothing, "16", Check::Any(ids::full)),
    // Tests
    entry(page!("TST001"), Warning, Nothing, "10", Check::Schema(tests::count)),
    entry(page!("TST002"), Warning, Nothing, "10", Check::Any(tests::descriptions)),
    entry(page!("TST003"), Warning, Nothing, "10", Check::Lowered(tests::complete)),
    entry(page!("TST004"), Warning, Nothing, "10", Check::Lowered(tests::values)),
    entry(page!("TST005"), Error, Nothing, "10", Check::Schema(tests::shapes)),
    entry(page!("TST006"), Warning, Nothing, "10", Check::Lowered(tests::known_keys)),
    entry(page!("TST007"), Warning, Nothing, "10", Check::Lowered(tests::breadth)),
    entry(page!("TST008"), Hint, Nothing, "10", Check::Lowered(tests::optionals)),
    entry(page!("TST013"), Hint, Nothing, "10", Check::Any(agents::expected_content)),
    // Shared lists
    entry(page!("LST002"), Error, File, "03", Check::AndPack(
        &Check::Fields(&[
            required(Kind::List, "meta", Shape::Object),
            required(Kind::ListMeta, "name", Shape::Text),
        ]),
        list_graph::unique,
    )),
    entry(page!("LST003"), Error, Nothing, "03", Check::List(lists::version)),
    entry(page!("LST004"), Error, Nothing, "03", Check::List(lists::described)),
    entry(page!("LST005"), Error, Nothing, "03", Check::List(lists::field_shapes)),
    entry(page!("LST006"), Error, File, "03", Check::List(lists::entries)),
    entry(page!("LST007"), Error, Nothing, "03", Check::List(lists::complete)),
    entry(page!("LST008"), Error, Nothing, "03", Check::List(lists::typed)),
    entry(page!("LST009"), Error, Nothing, "03", Check::Pack(list_graph::resolved)),
    entry(page!("LST010"), Error, Nothing, "03", Check::Pack(list_graph::cycles)),
    entry(page!("LST011"), Error, Nothing, "03", Check::Pack(list_graph::depth)),
    entry(page!("LST012"), Error, Nothing, "03", Check::List(list_graph::dependency_shapes)),
    entry(page!("LST013"), Error, Nothing, "03", Check::Pack(list_graph::dependencies_fit)),
    // Code
    entry(page!("SEC001"), Error, File, "05", Check::Any(code::imports)),
    entry(page!("SEC002"), Error, File, "05", Check::Any(code::requires)),
    entry(page!("SEC003"), Error, File, "05", Check::Names(Names {
        names: &["eval"],
        grant: None,
        instead: "write the code out",
    })),
    entry(page!("SEC004"), Error, File, "05", Check::Names(Names {
        names: &["Function", "AsyncFunction", "GeneratorFunction", "AsyncGeneratorFunction"],
        grant: None,
        instead: "write the function out",
    })),
    entry(page!("SEC005"), Error, File, "05", Check::Names(Names {
        names: &["fs"],
        grant: None,
        instead: "put the data into the schema or a shared list",
    })),
    entry(page!("SEC006"), Error, File, "05", Check::Names(Names {
        names: &["process", "Deno", "Bun"],
        grant: None,
        instead: "name keys in `requiredServerParams`",
    })),
    entry(page!("SEC007"), Error, File, "05", Check::Names(Names {
        names: &["child_process"],
        grant: None,
        instead: "remove it: handlers cannot start programs",
    })),
    entry(page!("SEC008"), Error, File, "05", Check::Names(Names {
        names: &["globalThis", "global", "window", "self", "frames", "top", "parent", code::ANY_NAME],
        grant: None,
        instead: "use names directly, and `struct` or `payload` to carry values",
    })),
    entry(page!("SEC009"), Error, File, "05", Check::Names(Names {
        names: &["__dirname", "__filename", code::IMPORT_META],
        grant: None,
        instead: "remove it: handlers cannot see files",
    })),
    entry(page!("SEC011"), Warning, Tool, "05", Check::Names(Names {
        names: &["setTimeout", "setInterval", "setImmediate", "clearTimeout", "clearInterval", "clearImmediate", "queueMicrotask", "requestAnimationFrame", "requestIdleCallback"],
        grant: Some("fetch"),
        instead: "do without waiting",
    })),
    entry(page!("SEC012"), Warning, Tool, "05", Check::Names(Names {
        names: &["fetch"],
        grant: Some("fetch"),
        instead: "let the host send the request and change it in preRequest",
    })),
    entry(page!("SEC014"), Warning, Tool, "05", Check::Names(Names {
        names: &["Buffer"],
        grant: Some("fetch"),
        instead: "use TextEncoder, Uint8Array, atob or btoa",
    })),
    entry(page!("SEC015"), Warning, Nothing, "05", Check::Schema(code::unknown_names)),
    entry(page!("SEC016"), Error, Tool, "05", Check::Names(Names {
        names: &[
            "XMLHttpRequest", "WebSocket", "WebTransport", "EventSource", "RTCPeerConnection", "BroadcastChannel",
            "Worker", "SharedWorker", "importScripts", "navigator",
        ],
        grant: None,
        instead: "let the host send the request and change it in preRequest",
    })),
    entry(page!("SEC017"), Error, File, "01", Check::Reading),
    entry(page!("SEC020"), Warning, Tool, "05", Check::Schema(code::missing_libraries)),
    entry(page!("SEC021"), Error, File, "05", Check::Schema(code::undeclared_libraries)),
    entry(page!("SEC104"), Error, Nothing, "05", Check::Running),
    entry(page!("SEC200"), Error, Nothing, "05", Check::List(lists::data_alone)),
];
