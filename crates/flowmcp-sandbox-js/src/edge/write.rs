//! The engine's values to JSON text, as `JSON.stringify` writes it, for the results that handlers usually give.
//!
//! It runs nothing of the handler's: no getter, no `toJSON`, no trap of a proxy. Where one of them could count, or where
//! a value is none of the plain ones, the text so far is thrown away and the engine's own `JSON.stringify` writes all of
//! it. So it cannot differ where a handler could see it.

use rquickjs::{Ctx, Error, Value, qjs};

use crate::budget::Budget;

/// Deeper values, and so cycles, are left to the engine.
const DEEPEST: u32 = 128;
/// Values between two looks at the clock: some write nothing, and one may be reached on many paths.
const VALUES_PER_LOOK: u32 = 4096;
/// Keys that are remembered. A power of two.
const KEYS: usize = 128;

/// What came of writing.
pub(crate) enum Written {
    Text(String),
    /// The engine had better write it.
    Unsure,
    /// The text would be longer than allowed.
    TooLong,
    OutOfTime,
}

/// Writes a value as JSON text of at most `limit` bytes.
///
/// # Errors
/// What the engine throws when it has no memory.
#[expect(unsafe_code, reason = "looks into values of the engine")]
pub(crate) fn write<'js>(
    ctx: &Ctx<'js>,
    value: &Value<'js>,
    limit: usize,
    budget: &Budget,
) -> rquickjs::Result<Written> {
    let raw = ctx.as_raw().as_ptr();
    // SAFETY: the context is alive; what is made is freed below, and a failure leaves an exception behind.
    let (object, array, to_json) = unsafe {
        (qjs::JS_NewObject(raw), qjs::JS_NewArray(raw), qjs::JS_NewAtomLen(raw, c"toJSON".as_ptr(), 6))
    };
    let written = Plain::of(raw, object).zip(Plain::of(raw, array)).map(|(objects, arrays)| {
        let mut writer = Writer {
            ctx: raw,
            out: Vec::with_capacity(1024),
            limit,
            budget,
            values: 0,
            objects,
            arrays,
            to_json,
            keys: [const { None }; KEYS],
        };
        if writer.has_to_json(objects.prototype) || writer.has_to_json(arrays.prototype) {
            return Err(Stop::Unsure);
        }
        let done = writer.value(value.as_raw(), 0).and_then(|()| writer.room(0));
        for (atom, _) in writer.keys.iter().flatten() {
            // SAFETY: each atom in the table was duplicated for it.
            unsafe { qjs::JS_FreeAtom(raw, *atom) };
        }
        done.and_then(|()| String::from_utf8(writer.out).map_err(|_| Stop::Unsure))
    });
    // SAFETY: these were made above and are not used any more.
    unsafe {
        for plain in [object, array] {
            qjs::JS_FreeValue(raw, plain);
        }
        qjs::JS_FreeAtom(raw, to_json);
    }
    match written {
        Some(Ok(text)) => Ok(Written::Text(text)),
        Some(Err(Stop::Unsure)) => Ok(Written::Unsure),
        Some(Err(Stop::TooLong)) => Ok(Written::TooLong),
        Some(Err(Stop::OutOfTime)) => Ok(Written::OutOfTime),
        Some(Err(Stop::Thrown)) | None => Err(Error::Exception),
    }
}

/// Why writing ended early.
enum Stop {
    Unsure,
    TooLong,
    OutOfTime,
    Thrown,
}

type Done = Result<(), Stop>;

/// What marks the plain objects, or the plain arrays, of a context.
#[derive(Clone, Copy)]
struct Plain {
    class: qjs::JSClassID,
    /// Alive as long as the context; not owned.
    prototype: qjs::JSValue,
}

impl Plain {
    /// As an object has it that was just made; none if it could not be made.
    #[expect(unsafe_code, reason = "looks into values of the engine")]
    fn of(ctx: *mut qjs::JSContext, sample: qjs::JSValue) -> Option<Plain> {
        // SAFETY: the sample is alive or an exception; it is no proxy, so nothing runs. Its prototype is the context's
        // own and lives on.
        unsafe {
            if qjs::JS_IsException(sample) {
                return None;
            }
            let prototype = qjs::JS_GetPrototype(ctx, sample);
            qjs::JS_FreeValue(ctx, prototype);
            Some(Plain { class: qjs::JS_GetClassID(sample), prototype })
        }
    }
}

struct Writer<'b> {
    ctx: *mut qjs::JSContext,
    out: Vec<u8>,
    limit: usize,
    budget: &'b Budget,
    values: u32,
    objects: Plain,
    arrays: Plain,
    to_json: qjs::JSAtom,
    /// Names of the engine that were written, each with its quotes and colon.
    keys: [Option<(qjs::JSAtom, Box<[u8]>)>; KEYS],
}

impl Writer<'_> {
    #[expect(unsafe_code, reason = "looks into values of the engine")]
    fn value(&mut self, value: qjs::JSValue, depth: u32) -> Done {
        self.values += 1;
        if self.values.is_multiple_of(VALUES_PER_LOOK) && self.budget.out_of_time() {
            return Err(Stop::OutOfTime);
        }
        self.room(0)?;
        // SAFETY: what is read of the value is what its tag says.
        unsafe {
            match qjs::JS_VALUE_GET_NORM_TAG(value) {
                qjs::JS_TAG_NULL => self.out.extend_from_slice(b"null"),
                qjs::JS_TAG_BOOL if qjs::JS_VALUE_GET_BOOL(value) => self.out.extend_from_slice(b"true"),
                qjs::JS_TAG_BOOL => self.out.extend_from_slice(b"false"),
                qjs::JS_TAG_INT => self.number(f64::from(qjs::JS_VALUE_GET_INT(value))),
                qjs::JS_TAG_FLOAT64 => self.number(qjs::JS_VALUE_GET_FLOAT64(value)),
                qjs::JS_TAG_STRING | qjs::JS_TAG_STRING_ROPE => return self.string(value),
                qjs::JS_TAG_OBJECT if depth < DEEPEST => return self.container(value, depth),
                _ => return Err(Stop::Unsure),
            }
        }
        Ok(())
    }

    /// Whether so many more bytes would fit.
    fn room(&self, bytes: usize) -> Done {
        if self.out.len().saturating_add(bytes) > self.limit { Err(Stop::TooLong) } else { Ok(()) }
    }

    fn number(&mut self, number: f64) {
        if number.is_finite() {
            self.out.extend_from_slice(ryu_js::Buffer::new().format_finite(number).as_bytes());
        } else {
            self.out.extend_from_slice(b"null");
        }
    }

    /// Strings as the engine has them need not be characters: such ones are left to it.
    #[expect(unsafe_code, reason = "reads a string of the engine")]
    fn string(&mut self, value: qjs::JSValue) -> Done {
        let mut length = 0;
        // SAFETY: the value is a string; the bytes live until they are freed.
        unsafe {
            let text = qjs::JS_ToCStringLen(self.ctx, &raw mut length, value);
            if text.is_null() {
                return Err(Stop::Thrown);
            }
            let bytes = std::slice::from_raw_parts(text.cast(), length);
            let quoted = self.room(length).and_then(|()| quote(bytes, &mut self.out));
            qjs::JS_FreeCString(self.ctx, text);
            quoted
        }
    }

    #[expect(unsafe_code, reason = "looks into values of the engine")]
    fn container(&mut self, object: qjs::JSValue, depth: u32) -> Done {
        // SAFETY: the value is an object; its class says that it is no proxy, so asking for its prototype runs nothing.
        let class = unsafe { qjs::JS_GetClassID(object) };
        let plain = match class {
            class if class == self.objects.class => self.objects,
            class if class == self.arrays.class => self.arrays,
            _ => return Err(Stop::Unsure),
        };
        // SAFETY: as above.
        let prototype = unsafe {
            let prototype = qjs::JS_GetPrototype(self.ctx, object);
            qjs::JS_FreeValue(self.ctx, prototype);
            prototype
        };
        if !same(prototype, plain.prototype) || self.has_to_json(object) {
            return Err(Stop::Unsure);
        }
        if class == self.arrays.class { self.array(object, depth) } else { self.object(object, depth) }
    }

    #[expect(unsafe_code, reason = "looks into values of the engine")]
    fn array(&mut self, array: qjs::JSValue, depth: u32) -> Done {
        let mut length = 0_i64;
        // SAFETY: an array's length is a number of its own, so nothing runs.
        if unsafe { qjs::JS_GetLength(self.ctx, array, &raw mut length) } < 0 {
            return Err(Stop::Thrown);
        }
        self.out.push(b'[');
        for index in 0..u32::try_from(length).map_err(|_| Stop::Unsure)? {
            if index > 0 {
                self.out.push(b',');
            }
            // SAFETY: numbers up to 2^31 need no memory as names, and longer arrays are no plain ones.
            let name = unsafe { qjs::JS_NewAtomUInt32(self.ctx, index) };
            // A hole shows what the prototype has.
            let item = self.own(array, name)?.ok_or(Stop::Unsure)?;
            let done = match self.is_nothing(item) {
                true => {
                    self.out.extend_from_slice(b"null");
                    Ok(())
                }
                false => self.value(item, depth + 1),
            };
            // SAFETY: the item is ours, and so is its name.
            unsafe {
                qjs::JS_FreeValue(self.ctx, item);
                qjs::JS_FreeAtom(self.ctx, name);
            }
            done?;
        }
        self.out.push(b']');
        Ok(())
    }

    #[expect(unsafe_code, reason = "looks into values of the engine")]
    fn object(&mut self, object: qjs::JSValue, depth: u32) -> Done {
        let (mut names, mut count) = (std::ptr::null_mut(), 0_u32);
        let which = (qjs::JS_GPN_STRING_MASK | qjs::JS_GPN_ENUM_ONLY).cast_signed();
        // SAFETY: the object is a plain one, so listing its names runs nothing. The list is freed below.
        unsafe {
            if qjs::JS_GetOwnPropertyNames(self.ctx, &raw mut names, &raw mut count, object, which) < 0 {
                return Err(Stop::Thrown);
            }
            let list = std::slice::from_raw_parts(names, count as usize);
            self.out.push(b'{');
            let done = list.iter().try_for_each(|name| self.member(object, name.atom, depth));
            qjs::JS_FreePropertyEnum(self.ctx, names, count);
            done?;
        }
        if self.out.last() == Some(&b',') {
            self.out.pop();
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes a member, with a comma behind it.
    #[expect(unsafe_code, reason = "frees a value of the engine")]
    fn member(&mut self, object: qjs::JSValue, name: qjs::JSAtom, depth: u32) -> Done {
        let value = self.own(object, name)?.ok_or(Stop::Unsure)?;
        let done = match self.is_nothing(value) {
            true => Ok(()),
            false => self.key(name).and_then(|()| self.value(value, depth + 1)).map(|()| self.out.push(b',')),
        };
        // SAFETY: the value is ours.
        unsafe { qjs::JS_FreeValue(self.ctx, value) };
        done
    }

    #[expect(unsafe_code, reason = "reads a name of the engine")]
    fn key(&mut self, name: qjs::JSAtom) -> Done {
        let place = self.keys.get_mut(name as usize & (KEYS - 1)).ok_or(Stop::Unsure)?;
        if let Some((known, text)) = place
            && *known == name
        {
            self.out.extend_from_slice(text);
            return Ok(());
        }
        let start = self.out.len();
        let mut length = 0;
        // SAFETY: the name is alive; the bytes live until they are freed, and the table gets a name of its own.
        unsafe {
            let text = qjs::JS_AtomToCStringLen(self.ctx, &raw mut length, name);
            if text.is_null() {
                return Err(Stop::Thrown);
            }
            let quoted = quote(std::slice::from_raw_parts(text.cast(), length as usize), &mut self.out);
            qjs::JS_FreeCString(self.ctx, text);
            quoted?;
            self.out.push(b':');
            if let Some((old, _)) = place.take() {
                qjs::JS_FreeAtom(self.ctx, old);
            }
            let text = self.out.get(start..).unwrap_or_default().into();
            *place = Some((qjs::JS_DupAtom(self.ctx, name), text));
        }
        Ok(())
    }

    /// An object's own value of that name; none where there is none. A getter is left to the engine.
    #[expect(unsafe_code, reason = "looks into values of the engine")]
    fn own(&self, object: qjs::JSValue, name: qjs::JSAtom) -> Result<Option<qjs::JSValue>, Stop> {
        let mut property = qjs::JSPropertyDescriptor {
            flags: 0,
            value: qjs::JS_UNDEFINED,
            getter: qjs::JS_UNDEFINED,
            setter: qjs::JS_UNDEFINED,
        };
        // SAFETY: the object is a plain one, so asking runs nothing; what it gives is ours.
        unsafe {
            match qjs::JS_GetOwnProperty(self.ctx, &raw mut property, object, name) {
                0 => return Ok(None),
                1.. => {}
                _ => return Err(Stop::Thrown),
            }
            if property.flags.cast_unsigned() & qjs::JS_PROP_GETSET == 0 {
                return Ok(Some(property.value));
            }
            for part in [property.value, property.getter, property.setter] {
                qjs::JS_FreeValue(self.ctx, part);
            }
        }
        Err(Stop::Unsure)
    }

    #[expect(unsafe_code, reason = "looks into values of the engine")]
    fn has_to_json(&self, object: qjs::JSValue) -> bool {
        // SAFETY: the object is a plain one or a prototype of the context's own, so asking runs nothing.
        unsafe { qjs::JS_GetOwnProperty(self.ctx, std::ptr::null_mut(), object, self.to_json) != 0 }
    }

    /// Whether JSON leaves a value out.
    #[expect(unsafe_code, reason = "looks at a value of the engine")]
    fn is_nothing(&self, value: qjs::JSValue) -> bool {
        // SAFETY: looks at the tag, and at the class of an object.
        unsafe {
            qjs::JS_IsUndefined(value)
                || qjs::JS_IsSymbol(value)
                || (qjs::JS_IsObject(value) && qjs::JS_IsFunction(self.ctx, value))
        }
    }
}

#[expect(unsafe_code, reason = "looks at values of the engine")]
fn same(left: qjs::JSValue, right: qjs::JSValue) -> bool {
    // SAFETY: the pointers are compared, and looked at only where the tags say that they are there.
    unsafe {
        qjs::JS_IsObject(left)
            && qjs::JS_IsObject(right)
            && qjs::JS_VALUE_GET_PTR(left) == qjs::JS_VALUE_GET_PTR(right)
    }
}

/// Writes text in quotes.
fn quote(text: &[u8], out: &mut Vec<u8>) -> Done {
    out.push(b'"');
    let mut copied = 0;
    for (at, byte) in text.iter().enumerate() {
        let escape: &[u8] = match byte {
            b'"' => b"\\\"",
            b'\\' => b"\\\\",
            b'\n' => b"\\n",
            b'\r' => b"\\r",
            b'\t' => b"\\t",
            0x08 => b"\\b",
            0x0c => b"\\f",
            0x00..0x20 => b"",
            // Half of a pair of units, written like a character.
            0xed if text.get(at + 1).is_some_and(|next| *next >= 0xa0) => return Err(Stop::Unsure),
            _ => continue,
        };
        out.extend_from_slice(text.get(copied..at).unwrap_or_default());
        copied = at + 1;
        if escape.is_empty() {
            out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
        } else {
            out.extend_from_slice(escape);
        }
    }
    out.extend_from_slice(text.get(copied..).unwrap_or_default());
    out.push(b'"');
    Ok(())
}
