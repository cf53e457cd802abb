//! JSON text to the engine's values, for the text that upstreams and the host write.
//!
//! The engine's own parser makes a string of every key and looks it up; here each key of the text is looked up once, and
//! arrays are made in one piece. It reads what it is sure about: anything else, errors too, is left to the engine.

use rquickjs::{Ctx, Error, Value, qjs};

/// Deeper text is left to the engine, whose stack limit then counts.
const DEEPEST: u32 = 128;
/// Keys that are remembered. A power of two.
const KEYS: usize = 256;
/// A double holds every integer of so many digits.
const EXACT_DIGITS: usize = 15;

/// What was read.
pub(crate) struct Read<'js> {
    pub(crate) value: Value<'js>,
    /// False when one of the numbers may need what `digits.rs` does.
    pub(crate) plain_numbers: bool,
}

/// Reads JSON text; none when the engine had better read it.
///
/// # Errors
/// What the engine throws when it has no memory.
#[expect(unsafe_code, reason = "makes values of the engine")]
pub(crate) fn read<'js>(ctx: &Ctx<'js>, json: &str) -> rquickjs::Result<Option<Read<'js>>> {
    let mut reader = Reader {
        ctx: ctx.as_raw().as_ptr(),
        json,
        at: 0,
        plain_numbers: true,
        keys: [const { None }; KEYS],
        open: Vec::new(),
    };
    let made = reader.value(0).and_then(|value| {
        reader.space();
        if reader.at == json.len() {
            return Ok(value);
        }
        // SAFETY: the value was just made and is not used any more.
        unsafe { qjs::JS_FreeValue(reader.ctx, value) };
        Err(Stop::Unsure)
    });
    for (atom, ..) in reader.keys.iter().flatten() {
        // SAFETY: the names in the table are its own.
        unsafe { qjs::JS_FreeAtom(reader.ctx, *atom) };
    }
    match made {
        Ok(value) => {
            // SAFETY: the value is of this context, and ours.
            let value = unsafe { Value::from_raw(ctx.clone(), value) };
            Ok(Some(Read { value, plain_numbers: reader.plain_numbers }))
        }
        Err(Stop::Unsure) => Ok(None),
        Err(Stop::Thrown) => Err(Error::Exception),
    }
}

/// Why reading ended early.
enum Stop {
    /// The engine knows better.
    Unsure,
    /// The engine threw.
    Thrown,
}

type Made = Result<qjs::JSValue, Stop>;

struct Reader<'t> {
    ctx: *mut qjs::JSContext,
    json: &'t str,
    at: usize,
    plain_numbers: bool,
    /// The engine's names for keys, with the key's place in the text.
    keys: [Option<(qjs::JSAtom, usize, usize)>; KEYS],
    /// Items of the arrays that are being read.
    open: Vec<qjs::JSValue>,
}

impl Reader<'_> {
    fn byte(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.byte() {
            self.at += 1;
        }
    }

    /// Goes on behind a byte, or stops.
    fn expect(&mut self, wanted: u8) -> Result<(), Stop> {
        if self.byte() != Some(wanted) {
            return Err(Stop::Unsure);
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: qjs::JSValue) -> Made {
        let rest = self.json.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(Stop::Unsure);
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self, depth: u32) -> Made {
        self.space();
        match self.byte() {
            Some(b'"') => self.string(),
            Some(b'{') if depth < DEEPEST => self.object(depth),
            Some(b'[') if depth < DEEPEST => self.array(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", qjs::JS_TRUE),
            Some(b'f') => self.word("false", qjs::JS_FALSE),
            Some(b'n') => self.word("null", qjs::JS_NULL),
            _ => Err(Stop::Unsure),
        }
    }

    #[expect(unsafe_code, reason = "makes values of the engine")]
    fn array(&mut self, depth: u32) -> Made {
        self.at += 1;
        let first = self.open.len();
        let ended = self.items(depth);
        let items = self.open.get(first..).unwrap_or_default();
        let made = match (ended, i32::try_from(items.len())) {
            // SAFETY: the items are ours, and the new array owns them; when it cannot be made it frees them.
            (Ok(()), Ok(length)) => made(unsafe { qjs::JS_NewArrayFrom(self.ctx, length, items.as_ptr()) }),
            (ended, _) => {
                for item in items {
                    // SAFETY: the items are ours, and nobody uses them.
                    unsafe { qjs::JS_FreeValue(self.ctx, *item) };
                }
                Err(ended.err().unwrap_or(Stop::Unsure))
            }
        };
        self.open.truncate(first);
        made
    }

    fn items(&mut self, depth: u32) -> Result<(), Stop> {
        self.space();
        if self.byte() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let item = self.value(depth + 1)?;
            self.open.push(item);
            self.space();
            match self.byte() {
                Some(b',') => self.at += 1,
                _ => return self.expect(b']'),
            }
        }
    }

    #[expect(unsafe_code, reason = "makes values of the engine")]
    fn object(&mut self, depth: u32) -> Made {
        self.at += 1;
        // SAFETY: the context is alive.
        let object = made(unsafe { qjs::JS_NewObject(self.ctx) })?;
        match self.members(object, depth) {
            Ok(()) => Ok(object),
            Err(stop) => {
                // SAFETY: the object is ours, and nobody uses it.
                unsafe { qjs::JS_FreeValue(self.ctx, object) };
                Err(stop)
            }
        }
    }

    #[expect(unsafe_code, reason = "makes values of the engine")]
    fn members(&mut self, object: qjs::JSValue, depth: u32) -> Result<(), Stop> {
        self.space();
        if self.byte() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.space();
            let key = self.key()?;
            self.space();
            let value = self.expect(b':').and_then(|()| self.value(depth + 1));
            let defined = value.and_then(|value| {
                let flags = qjs::JS_PROP_C_W_E.cast_signed();
                // SAFETY: the object, the atom and the value are alive, and the value is ours to give away.
                match unsafe { qjs::JS_DefinePropertyValue(self.ctx, object, key, value, flags) } {
                    0.. => Ok(()),
                    _ => Err(Stop::Thrown),
                }
            });
            // SAFETY: the name is ours.
            unsafe { qjs::JS_FreeAtom(self.ctx, key) };
            defined?;
            self.space();
            match self.byte() {
                Some(b',') => self.at += 1,
                _ => return self.expect(b'}'),
            }
        }
    }

    /// The engine's name for a key. It is the caller's: what stands in the table may go while the key's value is read.
    #[expect(unsafe_code, reason = "makes names of the engine")]
    fn key(&mut self) -> Result<qjs::JSAtom, Stop> {
        self.expect(b'"')?;
        let start = self.at;
        if !self.plain_text()? {
            let text = self.escaped(start)?;
            return self.atom(&text);
        }
        let end = self.at - 1;
        let text = self.json.get(start..end).unwrap_or_default();
        let place = place_of(text.as_bytes());
        if let Some(Some((known, start, end))) = self.keys.get(place)
            && self.json.get(*start..*end) == Some(text)
        {
            // SAFETY: a name in the table is alive.
            return Ok(unsafe { qjs::JS_DupAtom(self.ctx, *known) });
        }
        let name = self.atom(text)?;
        if let Some(place) = self.keys.get_mut(place) {
            // SAFETY: the new name is alive, and the old one was the table's.
            unsafe {
                if let Some((old, ..)) = place.replace((qjs::JS_DupAtom(self.ctx, name), start, end)) {
                    qjs::JS_FreeAtom(self.ctx, old);
                }
            }
        }
        Ok(name)
    }

    #[expect(unsafe_code, reason = "makes names of the engine")]
    fn atom(&self, text: &str) -> Result<qjs::JSAtom, Stop> {
        // SAFETY: the text is alive.
        match unsafe { qjs::JS_NewAtomLen(self.ctx, text.as_ptr().cast(), text.len() as _) } {
            0 => Err(Stop::Thrown),
            atom => Ok(atom),
        }
    }

    fn string(&mut self) -> Made {
        self.at += 1;
        let start = self.at;
        if self.plain_text()? {
            self.text(self.json.get(start..self.at - 1).unwrap_or_default())
        } else {
            let text = self.escaped(start)?;
            self.text(&text)
        }
    }

    #[expect(unsafe_code, reason = "makes values of the engine")]
    fn text(&self, text: &str) -> Made {
        // SAFETY: the text is alive.
        made(unsafe { qjs::JS_NewStringLen(self.ctx, text.as_ptr().cast(), text.len() as _) })
    }

    /// Goes behind a string's end; false at its first escape.
    fn plain_text(&mut self) -> Result<bool, Stop> {
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(true);
                }
                Some(b'\\') => return Ok(false),
                Some(b' '..) => self.at += 1,
                _ => return Err(Stop::Unsure),
            }
        }
    }

    /// A string that began at `start` and has its first escape here.
    fn escaped(&mut self, start: usize) -> Result<String, Stop> {
        let mut text = self.json.get(start..self.at).unwrap_or_default().to_owned();
        while self.byte() == Some(b'\\') {
            self.at += 1;
            let escape = self.byte().ok_or(Stop::Unsure)?;
            self.at += 1;
            text.push(match escape {
                b'"' | b'\\' | b'/' => char::from(escape),
                b'b' => '\x08',
                b'f' => '\x0c',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.unicode()?,
                _ => return Err(Stop::Unsure),
            });
            let start = self.at;
            let ended = self.plain_text()?;
            let end = if ended { self.at - 1 } else { self.at };
            text.push_str(self.json.get(start..end).unwrap_or_default());
            if ended {
                return Ok(text);
            }
        }
        Err(Stop::Unsure)
    }

    /// The character of one or two `\u` escapes. Half a pair is no character: the engine reads such text.
    fn unicode(&mut self) -> Result<char, Stop> {
        let first = self.unit()?;
        let code = match first {
            0xd800..=0xdbff => {
                self.expect(b'\\')?;
                self.expect(b'u')?;
                let second = self.unit()?;
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(Stop::Unsure);
                }
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            code => code,
        };
        char::from_u32(code).ok_or(Stop::Unsure)
    }

    fn unit(&mut self) -> Result<u32, Stop> {
        let digits = self.json.get(self.at..self.at + 4).ok_or(Stop::Unsure)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(Stop::Unsure);
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| Stop::Unsure)
    }

    fn number(&mut self) -> Made {
        let start = self.at;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        let leading_zero = self.byte() == Some(b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return Err(Stop::Unsure);
        }
        let mut digits = whole;
        let mut plain = true;
        if self.byte() == Some(b'.') {
            self.at += 1;
            let point = self.at;
            let fraction = self.digits();
            if fraction == 0 {
                return Err(Stop::Unsure);
            }
            digits += fraction;
            // Nobody misses the zero of `1.0`, but that of `1.10` belongs to an amount.
            let fraction = self.json.get(point..self.at).unwrap_or_default();
            plain = !fraction.ends_with('0') || fraction.bytes().all(|digit| digit == b'0');
        } else if whole <= 9 && !matches!(self.byte(), Some(b'e' | b'E')) {
            let literal = self.json.get(start..self.at).unwrap_or_default();
            if literal != "-0" {
                let number = literal.parse().map_err(|_| Stop::Unsure)?;
                return Ok(qjs::JS_MKVAL(qjs::JS_TAG_INT, number));
            }
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(Stop::Unsure);
            }
            plain = false;
        }
        self.plain_numbers &= plain && digits <= EXACT_DIGITS;
        let literal = self.json.get(start..self.at).unwrap_or_default();
        literal.parse().map(qjs::JS_NewFloat64).map_err(|_| Stop::Unsure)
    }

    /// Goes behind digits, and counts them.
    fn digits(&mut self) -> usize {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        self.at - start
    }
}

#[expect(unsafe_code, reason = "looks at a value of the engine")]
fn made(value: qjs::JSValue) -> Made {
    // SAFETY: looks at the value's tag only.
    if unsafe { qjs::JS_IsException(value) } { Err(Stop::Thrown) } else { Ok(value) }
}

/// Where a key stands in the table, if it does.
fn place_of(key: &[u8]) -> usize {
    let mixed =
        key.iter().fold(key.len(), |hash, byte| hash.wrapping_mul(31).wrapping_add(usize::from(*byte)));
    (mixed ^ (mixed >> 8)) & (KEYS - 1)
}
