//! The configuration as a user meets it: which source wins, what `config show` and `config check` say, and every refusal
//! word for word.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf};

use flowmcp_server::{
    config::{Config, ConfigError, Flag, Loaded, PluginConfig, Sources, check, show},
    env_file::server_params,
};
use proptest::prelude::*;
use tempfile::TempDir;

/// A folder with a `config.toml`, and everything else that settings come from.
struct Setup {
    folder: TempDir,
    sources: Sources,
}

impl Setup {
    fn new(text: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("config.toml");
        fs::write(&file, text).expect("the folder is writable");
        Setup { folder, sources: Sources { file: Some(file), ..Sources::default() } }
    }

    fn file(self, name: &str, text: &str) -> Self {
        fs::write(self.folder.path().join(name), text).expect("the folder is writable");
        self
    }

    fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        let pairs = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.sources.environment.extend(pairs);
        self
    }

    fn set(mut self, assignments: &[&str]) -> Self {
        self.sources.set.extend(assignments.iter().map(|text| (*text).to_owned()));
        self
    }

    fn flag(mut self, name: &'static str, key: &'static str, value: &str) -> Self {
        self.sources.flags.push(Flag { name, key, value: value.to_owned() });
        self
    }

    fn load(&self) -> Result<Loaded, ConfigError> {
        Config::load(&self.sources)
    }

    /// The refusal, without the name of the temporary folder.
    fn refusal(&self) -> String {
        match self.load() {
            Ok(_) => "(accepted)".to_owned(),
            Err(error) => self.plain(&error.to_string()),
        }
    }

    fn plain(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

/// One block a case: what was given, and what was said.
fn refusals<'a>(cases: impl IntoIterator<Item = (&'a str, Setup)>) -> String {
    let mut page = String::new();
    for (given, setup) in cases {
        let _ = writeln!(page, "{given}\n=> {}\n", setup.refusal().replace('\n', "\n=> "));
    }
    page
}

#[test]
fn refusals_of_the_file() {
    let cases = [
        "[http]\ntimeot = 3",
        "[serve]\ntimeout = 3",
        "[http]\ncolour = 3",
        "[htttp]\nretries = 1",
        "[[packs]]\npath = 'a'\n[[packs]]\npath = 'b'\nhost = ['x']",
        "[[packs]]\nname = 'a'",
        "[[packs]]\npath = 7",
        "[packs]\npath = 'a'",
        "[log]\nlevel = 'loud'\nformat = 'xml'",
        "[limits]\ncalls = 0\ncall_deadline = '0s'\nresponse = '1 TB'\nconnect = 'soon'\nschema_nesting = '5'",
        "[limits]\ncalls = -1\ncall_deadline = [1]\nresponse = 1.5\ndrain = true",
        "[serve]\nstdio = 'yes'",
        "[serve]\nhttp = 'localhost:8080'",
        "[serve]\nhttp = '0.0.0.0:8080'",
        "[serve]\nallowed_hosts = 'mcp.example.org'",
        "[serve]\nallowed_hosts = ['mcp.example.org', 'https://mcp.example.org']",
        "[serve]\nallowed_origins = ['app.example.org']",
        "[serve.endpoints.a]\ninclud = []",
        "[http.resolve]\n'api.example.org' = '127.0.0.1'\n'1.2.3.4' = '127.0.0.1:1'",
        "[http]\nproxy = 'socks5://user:s3cr3t@proxy:1'",
        "[http]\nretries = 11\nprivate_hosts = ['nas:80']",
        "[params]\nfrom_env = ['A-B']\nenv_file = ''",
        "[params.bind]\nKEY = 'example.org'",
        "[plugins]\ndir = ['x']",
        "[plugins]\nreplay = 's3cr3t'",
        "[plugins]\nallow = [{ name = 'a', sha256 = 'abc' }, { name = 'b' }]",
        "log = 3",
        "[log]\nlevel = ",
        "[log]\nlevel = 'info'\nlevel = 'warn'",
        "[log\n",
    ];
    insta::assert_snapshot!(refusals(cases.map(|text| (text, Setup::new(text)))));
}

#[test]
fn refusals_of_the_environment_name_the_variable_and_never_its_value() {
    let cases = [
        ("FLOWMCP_LIMITS__CALLS", "s3cr3t"),
        ("FLOWMCP_LIMITS__CALLS", ""),
        ("FLOWMCP_LIMITS__CALLS", "7654321"),
        ("FLOWMCP_LIMITS__CALL_DEADLINE", "s3cr3t"),
        ("FLOWMCP_LOG__LEVEL", "s3cr3t"),
        ("FLOWMCP_LOG", "s3cr3t"),
        ("FLOWMCP_LOG", r#"{ level = "s3cr3t", levl = "s3cr3t" }"#),
        ("FLOWMCP_SERVE__STDIO", "s3cr3t"),
        ("FLOWMCP_SERVE__ALLOWED_HOSTS", "s3cr3t.example"),
        ("FLOWMCP_SERVE__ALLOWED_HOSTS", r#"["https://s3cr3t"]"#),
        ("FLOWMCP_HTTP__PROXY", "ftp://s3cr3t@h"),
        ("FLOWMCP_HTTP__RESOLVE", r#"{ "h" = "s3cr3t" }"#),
        ("FLOWMCP_PACKS__0__PATH", "s3cr3t"),
        ("FLOWMCP_PACKS", r#"[{ name = "s3cr3t" }]"#),
        ("FLOWMCP_SERVE__HTTP", "[::]:80"),
    ];
    let page = refusals(cases.map(|(name, value)| (name, Setup::new("").variables(&[(name, value)]))));
    assert!(!page.contains("s3cr3t"), "{page}");
    insta::assert_snapshot!(page);
}

#[test]
fn refusals_of_assignments_and_flags() {
    let assignments = [
        "limits.calls",
        "limits..calls=1",
        "limits.cals=1",
        "limit.calls=1",
        "limits.calls=many",
        "limits.calls=",
        "packs[0].path=a",
        "packs.0.path=a",
        "log.level.x=1",
        r#"http.resolve."1.2.3.4"=127.0.0.1:1"#,
    ];
    let mut page = refusals(assignments.map(|text| (text, Setup::new("").set(&[text]))));
    page.push_str(&refusals([
        ("--http soon", Setup::new("").flag("--http", "serve.http", "soon")),
        ("--http 0.0.0.0:80", Setup::new("").flag("--http", "serve.http", "0.0.0.0:80")),
    ]));
    insta::assert_snapshot!(page);
}

#[test]
fn refusals_of_all_sources_come_at_once() {
    let setup = Setup::new("[log]\nlevel = 3\n[limits]\ncals = 1")
        .variables(&[("FLOWMCP_LIMITS__CALLS", "x")])
        .set(&["log.format=xml"]);
    insta::assert_snapshot!(setup.refusal());
}

#[test]
fn a_file_that_is_no_text() {
    let mut large = "# ".repeat(1 << 19);
    large.push('#');
    let mut absent = Setup::new("");
    absent.sources.file = Some(absent.folder.path().join("absent.toml"));
    insta::assert_snapshot!(refusals([
        ("not UTF-8", Setup::new(b"[log]\nlevel = '\xff'")),
        ("1 MiB and one byte", Setup::new(large)),
        ("absent", absent),
    ]));
}

#[test]
fn later_sources_win() {
    let file = "[limits]\ncalls = 1000\n[serve]\nallowed_hosts = ['a']\n[http.resolve]\na = '127.0.0.1:1'\nb = '127.0.0.1:1'";
    let calls = |setup: &Setup| setup.load().unwrap().config.limits.calls;
    let setup = Setup::new(file);
    assert_eq!(calls(&setup), 1000);
    let setup = setup.variables(&[
        ("FLOWMCP_LIMITS__CALLS", "2000"),
        ("FLOWMCP_SERVE__ALLOWED_HOSTS", r#"["b"]"#),
        ("FLOWMCP_HTTP__RESOLVE__B", "127.0.0.1:2"),
        ("FLOWMCP_LOG_LEVEL", "debug"),
    ]);
    assert_eq!(calls(&setup), 2000);
    let setup = setup.set(&["limits.calls=1", "limits.calls=3000"]);
    assert_eq!(calls(&setup), 3000);
    let setup = setup.flag("--calls", "limits.calls", "4000");
    assert_eq!(calls(&setup), 4000);

    let loaded = setup.load().unwrap();
    assert_eq!(loaded.config.serve.allowed_hosts, ["b"], "a list is replaced");
    let ports: Vec<u16> = loaded.config.http.resolve.values().map(|address| address.port()).collect();
    assert_eq!(ports, [1, 2], "a table is merged");
    assert_eq!(
        loaded.warnings,
        [
            "environment variable FLOWMCP_LOG_LEVEL: is not a setting and is ignored; did you mean FLOWMCP_LOG__LEVEL?"
        ]
    );
}

#[test]
fn text_is_taken_as_it_is_meant() {
    let setup = Setup::new("[[packs]]\npath = 'p'\nname = 7\naccept_versions = [4]")
        .variables(&[
            ("FLOWMCP_LOG__LEVEL", "\"debug\""),
            ("FLOWMCP_TRANSPORT__USE", "1.50"),
            ("FLOWMCP_LIMITS__CALL_DEADLINE", "45"),
            ("FLOWMCP_PARAMS__BIND__MY_KEY", r#"["example.org"]"#),
            ("FLOWMCP_PLUGINS__REPLAY__FOLDER", "/r"),
        ])
        .set(&[
            r#"http.resolve."api.example.org"=127.0.0.1:8443"#,
            "limits.response=1.5 KiB",
            "plugins.replay.n=3",
        ]);
    let config = setup.load().unwrap().config;
    assert_eq!(config.packs[0].name.as_deref(), Some("7"));
    assert_eq!(config.packs[0].accept_versions, ["4"]);
    assert_eq!(format!("{:?}", config.log.level), "Debug");
    assert_eq!(config.transport.name, "1.50");
    assert_eq!(config.limits.call_deadline.as_secs(), 45);
    assert_eq!(config.limits.response, 1536);
    assert_eq!(config.params.bind["MY_KEY"], ["example.org"]);
    assert_eq!(config.http.resolve["api.example.org"].port(), 8443);
    let replay: Vec<String> =
        config.plugins.config.values().map(|plugin| format!("{:?}", plugin.expose())).collect();
    assert_eq!(replay, [r#"{"folder": String("/r"), "n": Number(3)}"#]);
}

#[test]
fn a_variable_that_is_a_parameter_is_no_unknown_setting() {
    let setup = Setup::new("[params]\nfrom_env = ['FLOWMCP_TOKEN']").variables(&[
        ("FLOWMCP_TOKEN", "x"),
        ("FLOWMCP_UNHEARD_OF", "x"),
        ("OTHER", "x"),
    ]);
    assert_eq!(
        setup.load().unwrap().warnings,
        ["environment variable FLOWMCP_UNHEARD_OF: is not a setting and is ignored"]
    );
}

#[test]
fn packs_of_the_command_line_are_added() {
    let mut setup = Setup::new("[[packs]]\npath = 'mine'\nallow_local = true\n[[packs]]\npath = '/other'");
    setup.sources.packs = vec!["here".into(), "there".into()];
    setup.sources.allow_local = true;
    let loaded = setup.load().unwrap();
    let paths: Vec<PathBuf> = loaded.config.packs.iter().map(|pack| pack.path.clone()).collect();
    let mine = setup.folder.path().join("mine");
    assert_eq!(paths, [mine, "/other".into(), "here".into(), "there".into()]);
    assert!(loaded.config.packs.iter().all(|pack| pack.allow_local && pack.enabled));
    let origins = [
        "packs[0].allow_local",
        "packs[1].allow_local",
        "packs[1].path",
        "packs[2].path",
        "packs[2].enabled",
    ]
    .map(|key| setup.plain(&loaded.origins.of(key).to_string()));
    assert_eq!(origins, ["config.toml:3", "--allow-local", "config.toml:5", "--pack", "default"]);
}

#[test]
fn what_does_nothing_is_reported() {
    let setup = Setup::new(
        "[transport]\nuse = 'replay'\n[plugins.replay]\nfolder = 'x'\n[serve]\ndiscovery = true\n\
         [serve.endpoints.a]\ninclude = ['b']\n[sandboxes]\nlua = 'x'\n[[packs]]\npath = 'p'\n\
         reuse = true\nintegrity = 'warn'\nsandbox = 'lua'\ncache = true\n",
    )
    .variables(&[("FLOWMCP_LIMITS__HANDLER_CPU", "1s")]);
    let loaded = setup.load().unwrap();
    insta::assert_snapshot!(setup.plain(&loaded.without_effect().join("\n")));
    let harmless = Setup::new("[transport]\nuse = 'http'\n[limits]\ncalls = 3");
    assert_eq!(harmless.load().unwrap().without_effect(), Vec::<String>::new());
}

/// Settings from everywhere.
fn rich() -> Setup {
    Setup::new(
        "[log]\nlevel = 'debug'\n\n[http]\nproxy = 'http://user:s3cr3t@proxy.example.org:3128'\n\n\
         [http.resolve]\n\"api.example.org\" = '127.0.0.1:8443'\n\n[serve.endpoints.small]\ninclude = ['a', 'b']\n\n\
         [[packs]]\npath = 'schemas'\nname = 'mine'\n\n[plugins.replay]\nfolder = 'x'\napi_key = 's3cr3t'\n\
         upstream = 'https://u:s3cr3t@h/p'\nnested = { token = 's3cr3t', deep = [1.5, true] }\n",
    )
    .file(".env", "A=1\n")
    .variables(&[("FLOWMCP_LIMITS__CALL_DEADLINE", "1500ms"), ("FLOWMCP_LIMITS__CONTENT", "1 MiB")])
    .set(&["serve.allowed_hosts=['x.example.org', 'y.example.org']"])
    .flag("--http", "serve.http", "127.0.0.1:8080")
}

#[test]
fn show_says_where_each_setting_comes_from() {
    let mut setup = rich();
    setup.sources.packs = vec!["extra".into()];
    let page = show(&setup.load().unwrap());
    assert!(!page.contains("s3cr3t"), "{page}");
    insta::assert_snapshot!(setup.plain(&page));
}

#[test]
fn what_is_shown_loads_again() {
    let setup = rich();
    let mut first = setup.load().unwrap();
    let mut second = Setup::new(show(&first)).load().unwrap().config;
    // Hidden values do not come back; nothing else may differ.
    for config in [&mut first.config, &mut second] {
        assert!(config.http.proxy.take().is_some());
        let config = std::mem::take(&mut config.plugins.config);
        assert_eq!(config.keys().collect::<Vec<_>>(), ["replay"]);
        let _: Vec<&PluginConfig> = config.values().collect();
    }
    assert_eq!(first.config, second);
}

#[test]
fn check_looks_at_files_and_parameters() {
    let setup = Setup::new(
        "[serve]\nstdio = false\ndiscovery = true\n[http]\nca_file = 'ca.pem'\n[params]\nenv_file = 'keys.env'\n\
         from_env = ['IN_FILE', 'IN_ENVIRONMENT', 'NOWHERE']\n[[packs]]\npath = 'absent'\n\
         [[packs]]\npath = '.'\n[[packs]]\npath = '.'\n[[packs]]\npath = 'off'\nenabled = false\n",
    )
    .file("ca.pem", "not a certificate")
    .file("keys.env", "IN_FILE=1\nTWICE=1\nTWICE=2\n");
    let environment = BTreeMap::from([("IN_ENVIRONMENT".to_owned(), "s3cr3t".to_owned())]);
    let say = |setup: &Setup| {
        let findings = check(&setup.load().unwrap(), &environment);
        setup.plain(&findings.iter().map(|finding| format!("{finding}\n")).collect::<String>())
    };
    insta::assert_snapshot!("check_finds", say(&setup));
    let broken = Setup::new("[params]\nenv_file = 'keys.env'\n[http]\nca_file = 'none.pem'")
        .file("keys.env", "A='s3cr3t");
    insta::assert_snapshot!("check_finds_broken_files", say(&broken));
}

#[test]
fn the_shipped_configuration_is_in_order() {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../config.toml"));
    let loaded = Config::load(&Sources { file: Some(file), ..Sources::default() }).unwrap();
    assert_eq!(check(&loaded, &BTreeMap::new()), []);
    assert!(loaded.config.serve.stdio && loaded.config.serve.http.is_none());
}

#[test]
fn parameters_come_from_the_file_and_from_named_variables() {
    let setup = Setup::new("[params]\nfrom_env = ['A', 'B', 'C']").file(".env", "A=file\nC=file\nD=file\n");
    let environment = [("A", "env"), ("B", "env"), ("C", ""), ("E", "env")];
    let environment: BTreeMap<String, String> =
        environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let config = setup.load().unwrap().config;
    let (params, warnings) = server_params(&config, &environment).unwrap();
    let params: Vec<(&str, &str)> =
        params.iter().map(|(name, value)| (name.as_str(), value.expose())).collect();
    assert_eq!(params, [("A", "env"), ("B", "env"), ("C", "file"), ("D", "file")]);
    assert_eq!(warnings, Vec::<String>::new());

    let spoiled = BTreeMap::from([("A".to_owned(), "s3cr3t\r".to_owned())]);
    assert_eq!(
        server_params(&config, &spoiled).unwrap_err().to_string(),
        "environment: the value of A contains a control character (carriage return); remove it"
    );
}

#[test]
fn env_files_that_cannot_be_used() {
    let refuse = |setup: &Setup| {
        let config = setup.load().unwrap().config;
        setup.plain(&server_params(&config, &BTreeMap::new()).unwrap_err().to_string())
    };
    let named = || Setup::new("[params]\nenv_file = 'keys.env'");
    let large = "#".repeat((1 << 20) + 1);
    let binary = named();
    fs::write(binary.folder.path().join("keys.env"), b"A=\xff\xfe").unwrap();
    insta::assert_snapshot!(format!(
        "absent: {}\nlarge: {}\nnot UTF-8: {}\nspoiled: {}",
        refuse(&named()),
        refuse(&named().file("keys.env", &large)),
        refuse(&binary),
        refuse(&named().file("keys.env", "OK=1\r\nKEY=\"a\\rb\"\r\n")),
    ));
    // Nobody asked for a file, so its absence is nothing.
    let config = Setup::new("").load().unwrap().config;
    assert_eq!(server_params(&config, &BTreeMap::new()).unwrap().0, BTreeMap::new());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_breaks_the_reader(
        line in prop::sample::select(vec!["[limits]\ncalls = ", "[http]\nresolve = ", "[[packs]]\n", "", "[plugins.x]\na = "]),
        rest in "[ -~\n]{0,40}",
    ) {
        let _ = Setup::new(format!("{line}{rest}")).load();
    }

    #[test]
    fn no_variable_shows_its_value(
        name in prop::sample::select(vec![
            "LIMITS__CALLS", "LIMITS__DRAIN", "LIMITS__CONTENT", "LOG__FORMAT", "SERVE__STDIO", "SERVE__HTTP",
            "HTTP__PROXY", "HTTP__RESOLVE", "PACKS", "PARAMS__FROM_ENV", "PLUGINS__ALLOW", "PLUGINS__DIRS",
        ]),
        before in "[\\[{\"' ]{0,3}",
        after in "[\\]}\"' ]{0,3}",
    ) {
        let variable = format!("FLOWMCP_{name}");
        let value = format!("{before}s3cr3t{after}");
        let setup = Setup::new("").variables(&[(&variable, &value)]);
        prop_assert!(!setup.refusal().contains("s3cr3t"));
    }
}
