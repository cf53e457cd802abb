//! Names of globals: which are harmless, and which stand for the global object.

/// Globals that every handler may use: those of ECMAScript 2023 (without `eval`, `Function`, `globalThis` and shared
/// memory), and what the sandbox adds for all. Sorted.
const HARMLESS: [&str; 66] = [
    "AbortController",
    "AbortSignal",
    "AggregateError",
    "Array",
    "ArrayBuffer",
    "BigInt",
    "BigInt64Array",
    "BigUint64Array",
    "Boolean",
    "DataView",
    "Date",
    "Error",
    "EvalError",
    "FinalizationRegistry",
    "Float32Array",
    "Float64Array",
    "Infinity",
    "Int16Array",
    "Int32Array",
    "Int8Array",
    "Iterator",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "SyntaxError",
    "TextDecoder",
    "TextEncoder",
    "TypeError",
    "URIError",
    "URL",
    "URLSearchParams",
    "Uint16Array",
    "Uint32Array",
    "Uint8Array",
    "Uint8ClampedArray",
    "WeakMap",
    "WeakRef",
    "WeakSet",
    "arguments",
    "atob",
    "btoa",
    "console",
    "decodeURI",
    "decodeURIComponent",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "isFinite",
    "isNaN",
    "parseFloat",
    "parseInt",
    "structuredClone",
    "undefined",
    "unescape",
];

pub(super) fn is_harmless(name: &str) -> bool {
    HARMLESS.binary_search(&name).is_ok()
}

/// Names through which scripts of browsers, workers and Node reach the global object.
pub(super) fn is_global_object(name: &str) -> bool {
    matches!(name, "globalThis" | "window" | "self" | "global" | "frames" | "top" | "parent")
}

/// Functions of the language that keep the functions they are given without calling them.
pub(super) fn keeps_arguments(object: &str, function: &str) -> bool {
    object == "Object"
        && matches!(
            function,
            "freeze"
                | "seal"
                | "preventExtensions"
                | "assign"
                | "keys"
                | "values"
                | "entries"
                | "fromEntries"
        )
}

/// Classes of the language whose construction calls none of their arguments.
pub(super) fn keeps_its_arguments(class: &str) -> bool {
    matches!(class, "Map" | "Set" | "WeakMap" | "WeakSet" | "Date" | "RegExp" | "URL" | "Error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted() {
        assert!(HARMLESS.is_sorted());
        assert!(is_harmless("URL") && is_harmless("AbortController") && !is_harmless("fetch"));
    }
}
