//! Values on their way in and out (case sql-05).

use serde_json::{Value, json};

use crate::scene::{Scene, ask, ask_prepared, query, resource};

fn scene() -> Scene {
    let scene = Scene::new();
    scene.fill(
        "global/resources/demo.db",
        "CREATE TABLE t (id INTEGER PRIMARY KEY, i INTEGER, r REAL, s TEXT, b BLOB);
         INSERT INTO t VALUES (1, 9007199254740993, 1.5, 'ü', x'00ff'), (2, -9223372036854775808, -1e300, '', x'');",
    );
    scene
}

#[test]
fn values_come_out_as_they_are() {
    let scene = scene();
    let database = scene.database("demo.db");
    for (sql, expected) in [
        (
            "SELECT 9007199254740993 AS i, -9223372036854775808 AS m, x'00ff' AS b, NULL AS n, 9e999 AS f, \
             'a'||char(0)||'b' AS z, 1 AS d, 2 AS d",
            r#"[{"i":9007199254740993,"m":-9223372036854775808,"b":{"$base64":true,"encoded":"AP8="},"n":null,"f":"Infinity","z":"a\u0000b","d":1,"d_2":2}]"#,
        ),
        ("SELECT -9e999 AS f, 9e999 - 9e999 AS n", r#"[{"f":"-Infinity","n":null}]"#),
        ("SELECT 1.0 AS a, 0.1 AS b, 1e21 AS c, -0.0 AS d", r#"[{"a":1,"b":0.1,"c":1e+21,"d":0}]"#),
        ("SELECT 1 AS a, 2 AS a, 3 AS a_2, 4 AS a", r#"[{"a":1,"a_2":2,"a_2_2":3,"a_3":4}]"#),
        ("SELECT a.id, b.id FROM t a JOIN t b ON a.id = b.id WHERE a.id = 1", r#"[{"id":1,"id_2":1}]"#),
        (r#"SELECT 1 AS "a""b\", 2 AS """#, r#"[{"a\"b\\":1,"":2}]"#),
        (r#"SELECT 1 AS "a""b\", 2 AS "ü""#, r#"[{"a\"b\\":1,"ü":2}]"#),
        ("SELECT id FROM t WHERE id > 5", "[]"),
        (
            "SELECT CAST(x'41ff42' AS TEXT) AS t, 1 AS one",
            "[{\"t\":\"A\u{fffd}B\",\"one\":1}] [1 texts are not UTF-8; what cannot be read stands as \u{fffd}]",
        ),
        (
            "SELECT * FROM t WHERE id = 2",
            r#"[{"id":2,"i":-9223372036854775808,"r":-1e+300,"s":"","b":{"$base64":true,"encoded":""}}]"#,
        ),
    ] {
        assert_eq!(ask(&database, sql), expected, "{sql}");
    }
}

#[test]
fn values_go_in_in_their_types() {
    let scene = scene();
    let database = scene.database("demo.db");
    let echo = query("SELECT ? AS v, typeof(?1) AS t", &[("v", "number()")]);
    let check = |value: Option<Value>| ask_prepared(&database, &echo, &[value]);
    for (value, expected) in [
        (
            Some(serde_json::from_str("9007199254740993").unwrap()),
            r#"[{"v":9007199254740993,"t":"integer"}]"#,
        ),
        (
            Some(serde_json::from_str("9223372036854775808").unwrap()),
            r#"[{"v":9223372036854776000,"t":"real"}]"#,
        ),
        (
            Some(serde_json::from_str("9223372036854775809").unwrap()),
            "error: v: 9223372036854775809 is no 64-bit integer and no floating point number has all its digits",
        ),
        (Some(json!(1.5)), r#"[{"v":1.5,"t":"real"}]"#),
        (Some(json!("1; DROP TABLE t; --")), r#"[{"v":"1; DROP TABLE t; --","t":"text"}]"#),
        (Some(json!("a\u{0}b")), r#"[{"v":"a\u0000b","t":"text"}]"#),
        (Some(json!(true)), r#"[{"v":1,"t":"integer"}]"#),
        (Some(Value::Null), r#"[{"v":null,"t":"null"}]"#),
        (None, r#"[{"v":null,"t":"null"}]"#),
        (Some(json!([1])), "error: v: a query takes text, numbers and booleans, not an array"),
    ] {
        assert_eq!(check(value.clone()), expected, "{value:?}");
    }
    let by_id = query("SELECT s FROM t WHERE i = ?", &[("i", "number()")]);
    let exact: Value = serde_json::from_str("9007199254740993").unwrap();
    let near: Value = serde_json::from_str("9007199254740992").unwrap();
    assert_eq!(ask_prepared(&database, &by_id, &[Some(exact)]), r#"[{"s":"ü"}]"#);
    assert_eq!(ask_prepared(&database, &by_id, &[Some(near)]), "[]");
}

#[test]
fn fixed_values_and_texts_with_values_in_them() {
    let scene = scene();
    let database = scene.database("demo.db");
    let resource = resource(
        "{ ask: { sql: 'SELECT ? AS a, typeof(?1) AS t, ? AS b', parameters: [
            { position: { key: 'a', value: '7' }, z: { primitive: 'number()', options: [] } },
            { position: { key: 'b', value: '%{{PART}}%' }, z: { primitive: 'string()', options: ['optional()'] } },
        ] } }",
    );
    let ask = |value| ask_prepared(&database, resource.query("ask").unwrap(), &[value]);
    assert_eq!(ask(Some(json!("x{{PART}}"))), r#"[{"a":7,"t":"integer","b":"%x{{PART}}%"}]"#);
    assert_eq!(ask(None), r#"[{"a":7,"t":"integer","b":null}]"#);
}

#[test]
fn parameters_must_be_as_many_as_their_places() {
    let scene = scene();
    let database = scene.database("demo.db");
    let check = |sql: &str, count: usize| {
        let names = [("a", "string()"), ("b", "string()")];
        let values = vec![Some(json!("x")); count];
        ask_prepared(&database, &query(sql, &names[..count]), &values)
    };
    assert_eq!(
        check("SELECT ?, ?", 1),
        "error: the statement has 2 placeholders and the schema gives 1 parameters for them"
    );
    assert_eq!(
        check("SELECT 1", 1),
        "error: the statement has 0 placeholders and the schema gives 1 parameters for them"
    );
    assert_eq!(check("SELECT '?' AS q, ? AS a -- ?", 1), r#"[{"q":"?","a":"x"}]"#);
}

#[test]
fn errors_name_what_is_wrong() {
    let scene = scene();
    let database = scene.database("demo.db");
    for (sql, expected) in [
        ("SELECT x FROM t", "error: SQL error: no such column: x"),
        ("SELECT * FROM nowhere", "error: SQL error: no such table: nowhere"),
        ("SELEC 1", "error: SQL error: near \"SELEC\": syntax error"),
        ("SELECT", "error: SQL error: incomplete input"),
        ("SELECT abs(-9223372036854775808)", "error: SQL error: integer overflow"),
    ] {
        assert_eq!(ask(&database, sql), expected, "{sql}");
    }
}
