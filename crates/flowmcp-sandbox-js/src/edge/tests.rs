//! Reading and writing against the engine's own `JSON.parse` and `JSON.stringify`.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use proptest::prelude::*;
use rquickjs::{Context, Ctx, Value};

use super::*;
use crate::{budget::Budget, engine};

/// Runs a check in a context that has everything, a parser too.
fn with_context<T>(check: impl for<'js> FnOnce(&Ctx<'js>, &Budget) -> T) -> T {
    let (heap, budget) = (Rc::new(Heap::new(64 << 20).unwrap()), Rc::new(Budget::unlimited()));
    let runtime = engine::runtime(&heap, &budget, 256 << 10).unwrap();
    Context::full(&runtime).unwrap().with(|ctx| check(&ctx, &budget))
}

fn stringified<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> String {
    ctx.json_stringify(value).unwrap().unwrap().to_string().unwrap()
}

#[test]
fn text_that_is_left_to_the_engine() {
    with_context(|ctx, _| {
        for json in [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "{a:1}",
            "01",
            "-",
            "1.",
            "1e",
            ".5",
            "+1",
            "tru",
            "nul",
            "\"\\x\"",
            "\"\\ud800\"",
            "\"\\ud800\\u0041\"",
            "\"\\udc00\"",
            "\"\\u12g4\"",
            "\"a\nb\"",
            "\"open",
            "1 2",
            "[1 2]",
            "NaN",
            "'a'",
            "\u{feff}1",
        ] {
            assert!(read(ctx, json).unwrap().is_none(), "{json}");
        }
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        assert!(read(ctx, &deep).unwrap().is_none());
    });
}

/// More keys than are remembered, each in the middle of another one's value.
#[test]
fn keys_are_forgotten_while_they_are_in_use() {
    with_context(|ctx, _| {
        let members: Vec<String> = (0..2000).map(|n| format!("\"key{n}\":{{\"inner{n}\":{n}}}")).collect();
        let json = format!("{{{}}}", members.join(","));
        let ours = read(ctx, &json).unwrap().unwrap().value;
        assert_eq!(stringified(ctx, ours), json);
    });
}

#[test]
fn numbers_whose_digits_may_be_lost_are_noticed() {
    with_context(|ctx, _| {
        for (json, plain) in [
            ("[0,1,-1,1.5,123456789,1234567890,2147483648,-2147483649,0.1,\"1e5\"]", true),
            ("1.10", false),
            ("[1.0,20.00,-3.0]", true),
            ("1.100", false),
            ("1e5", false),
            ("1E5", false),
            ("12345678901234567", false),
            ("0.1234567890123456", false),
        ] {
            assert_eq!(read(ctx, json).unwrap().unwrap().plain_numbers, plain, "{json}");
        }
    });
}

/// What a handler might return; each is written as the engine writes it.
const WRITTEN: &[&str] = &[
    "null",
    "true",
    "0",
    "-0",
    "NaN",
    "-Infinity",
    "1e21",
    "1e-7",
    "2147483648",
    "0.1",
    "'a\\u0000\\u001f\\n\\t\"\\\\\\u007f'",
    "'ä€\\u{1f600}'",
    "'a'.repeat( 5000 ) + 'b'",
    "[]",
    "{}",
    "[ [], {} ]",
    "[ undefined, () => 1, Symbol( 's' ), null ]",
    "{ a: undefined, b: () => 1, c: Symbol( 's' ), d: 1 }",
    "{ a: undefined }",
    "{ b: 1, 10: 2, a: 3, 2: 4 }",
    "{ 'ä \"': 1 }",
    "JSON.parse( '{\"__proto__\":1}' )",
    "Object.freeze( { a: [ 1 ] } )",
    "Object.defineProperty( { a: 1 }, 'hidden', { value: 2 } )",
    "[ 1, 2, 3 ].map( ( n ) => ( { n } ) )",
    "Object.fromEntries( Array.from( { length: 300 }, ( _, n ) => [ `key${n}`, n ] ) )",
    "{ [ Symbol( 's' ) ]: 1, a: 2 }",
    "( () => { const shared = [ 1 ]; return [ shared, shared ] } )()",
    "'x'.concat( 'y' ).slice( 1 )",
];

/// What only the engine knows how to write, since it would run something.
const UNSURE: &[&str] = &[
    "undefined",
    "() => 1",
    "Symbol( 's' )",
    "10n",
    "'\\ud800'",
    "{ '\\udc00': 1 }",
    "{ toJSON() { return 1 } }",
    "Object.defineProperty( { a: 1 }, 'toJSON', { value: () => 1 } )",
    "{ get a() { return 1 } }",
    "[ , 1 ]",
    "new Date( 0 )",
    "new ( class A { a = 1 } )()",
    "new Proxy( {}, {} )",
    "new Proxy( [], {} )",
    "new Number( 1 )",
    "new String( 'a' )",
    "JSON.rawJSON( '1' )",
    "new Map()",
    "/a/",
    "new Uint8Array( 2 )",
    "new Error( 'x' )",
    "Object.create( { a: 1 } )",
    "Object.setPrototypeOf( [ 1 ], null )",
    "( () => { const a = {}; a.a = a; return a } )()",
    "Object.defineProperty( [ 1 ], 0, { get: () => 2 } )",
    "( () => arguments )()",
];

#[test]
fn values_are_written_as_the_engine_writes_them() {
    with_context(|ctx, budget| {
        for expression in WRITTEN {
            let value: Value<'_> = ctx.eval(format!("( {expression} )")).unwrap();
            let Written::Text(text) = write(ctx, &value, 1 << 20, budget).unwrap() else {
                panic!("{expression} was not written")
            };
            assert_eq!(text, stringified(ctx, value), "{expression}");
        }
    });
}

#[test]
fn what_would_run_something_is_left_to_the_engine() {
    with_context(|ctx, budget| {
        for expression in UNSURE {
            let Ok(value) = ctx.eval::<Value<'_>, _>(format!("( {expression} )")) else {
                ctx.catch();
                continue;
            };
            assert!(matches!(write(ctx, &value, 1 << 20, budget), Ok(Written::Unsure)), "{expression}");
            let inside: Value<'_> = ctx.eval(format!("( {{ a: [ {expression} ] }} )")).unwrap();
            let left_out = value.is_undefined() || value.is_function() || value.is_symbol();
            let written = write(ctx, &inside, 1 << 20, budget).unwrap();
            assert_eq!(matches!(written, Written::Text(_)), left_out, "{expression}");
        }
        let value: Value<'_> = ctx.eval("Object.prototype.toJSON = () => 1; ( { a: 1 } )").unwrap();
        assert!(matches!(write(ctx, &value, 1 << 20, budget), Ok(Written::Unsure)));
    });
}

#[test]
fn writing_ends_at_its_limits() {
    with_context(|ctx, budget| {
        let long: Value<'_> = ctx.eval("'x'.repeat( 100 )").unwrap();
        assert!(matches!(write(ctx, &long, 101, budget), Ok(Written::TooLong)));
        assert!(matches!(write(ctx, &long, 102, budget), Ok(Written::Text(_))));
        // Many paths to little text.
        let bomb: Value<'_> = ctx
            .eval("( () => { let v = {}; for( let i = 0; i < 60; i++ ) { v = { a: v, b: v } } return v } )()")
            .unwrap();
        assert!(matches!(write(ctx, &bomb, 1 << 20, budget), Ok(Written::TooLong)));
        budget.begin(Duration::ZERO, Instant::now() + Duration::from_secs(60), 64 << 20);
        assert!(matches!(write(ctx, &bomb, usize::MAX, budget), Ok(Written::OutOfTime) | Err(_)));
        assert!(budget.out_of_time());
        budget.end();
    });
}

/// JSON text with everything in it that JSON has.
fn json() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[a-z]{0,4}".prop_map(|text| format!("\"{text}\"")),
        any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
        Just(r#""\/\b\f\n\r\t\u0041\ud83d\ude00\\""#.to_owned()),
    ];
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<i32>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("finite", |number| number.is_finite())
            .prop_map(|number| format!("{number:?}")),
        "-?(0|[1-9][0-9]{0,12})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,2})?",
    ];
    let leaf = prop_oneof![
        text.clone(),
        number,
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("null".to_owned())
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let key = prop_oneof![
            text.clone(),
            "[0-9]{1,3}".prop_map(|key| format!("\"{key}\"")),
            Just("\"__proto__\"".to_owned())
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6)
                .prop_map(|items| format!("[ {} ]", items.join(" ,\n"))),
            prop::collection::vec((key, inner), 0..6).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("{key} :\t{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn json_is_read_and_written_as_the_engine_does_it(json in json()) {
        with_context(|ctx, budget| {
            let ours = read(ctx, &json).unwrap();
            let ours = ours.expect("it is JSON").value;
            let expected = stringified(ctx, ctx.json_parse(json.as_str()).unwrap());
            assert_eq!(stringified(ctx, ours.clone()), expected, "read {json}");
            match write(ctx, &ours, 1 << 20, budget).unwrap() {
                Written::Text(text) => assert_eq!(text, expected, "write {json}"),
                _ => panic!("{json} was not written"),
            }
        });
    }

    #[test]
    fn any_text_is_survived(text in ".{0,40}") {
        with_context(|ctx, _| {
            let ours = read(ctx, &text).unwrap().map(|read| stringified(ctx, read.value));
            if let Some(ours) = ours {
                assert_eq!(ours, stringified(ctx, ctx.json_parse(text.as_str()).unwrap()));
            }
        });
    }
}
