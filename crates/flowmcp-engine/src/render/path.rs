//! The path of a request: literal text, and values that each stay in their own segment.

use flowmcp_spec::schema::Part;
use serde_json::Value;

use super::{
    Place, RenderError, Renderer, Result,
    encode::{item_segment, segment},
    text,
};

impl Renderer<'_> {
    /// Appends the path. An optional value that was left out takes its segment with it, which can only be the last.
    pub(super) fn path(&self, url: &mut String) -> Result<()> {
        let mut open = Segment { start: url.len(), input: None };
        let parts = &self.tool.plan.path;
        for (index, part) in parts.iter().enumerate() {
            match part {
                Part::Text(text) => {
                    for (slashes, piece) in text.split('/').enumerate() {
                        if slashes > 0 {
                            self.close(&mut open, url)?;
                            url.push('/');
                            open.start = url.len();
                        }
                        url.push_str(piece);
                    }
                }
                Part::Server(key) => self.server_value(key, Place::Path, url)?,
                Part::Input(input) => match self.value(*input) {
                    Some(value) => self.insert(*input, value, &mut open, url)?,
                    None if self.is_last_segment(index, &open, url) => {
                        let end = url.trim_end_matches('/').len();
                        url.truncate(end);
                        return Ok(());
                    }
                    None => return Err(RenderError::NeededByPath { input: self.input_name(*input) }),
                },
            }
        }
        self.close(&mut open, url)
    }

    fn is_last_segment(&self, index: usize, open: &Segment, url: &str) -> bool {
        let rest = self.tool.plan.path.get(index + 1..).unwrap_or_default();
        let ends = matches!(rest, []) || matches!(rest, [Part::Text(text)] if &**text == "/");
        ends && open.start == url.len()
    }

    fn insert(&self, input: usize, value: &Value, open: &mut Segment, url: &mut String) -> Result<()> {
        open.input = Some(input);
        match value {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        url.push(',');
                    }
                    item_segment(&text(item), url);
                }
            }
            value if self.tool.plan.inputs.get(input).is_some_and(|input| input.z.segments) => {
                for (index, piece) in text(value).split('/').enumerate() {
                    if index > 0 {
                        self.close(open, url)?;
                        url.push('/');
                        *open = Segment { start: url.len(), input: Some(input) };
                    }
                    segment(piece, url);
                }
            }
            value => segment(&text(value), url),
        }
        Ok(())
    }

    /// A segment with a value in it must name something: an empty one, `.` and `..` reach another resource.
    fn close(&self, open: &mut Segment, url: &str) -> Result<()> {
        let Some(input) = open.input.take() else { return Ok(()) };
        let segment = url.get(open.start..).unwrap_or_default();
        // URL parsers read %2e as a dot; values cannot hold it, but the schema's own text beside them can.
        let dots = segment.replace("%2e", ".").replace("%2E", ".");
        if matches!(dots.as_str(), "" | "." | "..") {
            return Err(RenderError::Segment { input: self.input_name(input), segment: segment.to_owned() });
        }
        Ok(())
    }
}

/// The segment being written: where it starts, and the last input in it.
struct Segment {
    start: usize,
    input: Option<usize>,
}
