//! StringIO: a String that is read and written like a file. This file: state, opening and closing, positions; [`read`] and [`write`] the rest.
//!
//! Invariants: the String belongs to the program, which may change, shorten or freeze it at any time; so every operation looks at its length anew.
//! A `dup` shares position, line number and String with its original (as two descriptors of one file): both then point to one hidden [`State`] object.
//! Rejected: a StringIO in Ruby (gets 10 times slower); an `Rc` for the shared state (images and messages would part the two).

pub mod read;
pub mod write;

use crate::args::{self, APPEND, READ, TRUNCATE, WRITE};
use zakuro_macros::{Trace, ruby_class};
use zakuro_vm::*;

/// Position and String, and where `dup`s find those of their original.
#[derive(Clone, Copy, Trace)]
pub struct State {
    pub string: Value,
    pub pos: usize,
    pub lineno: i64,
    pub encoding: Option<u8>,
}

/// Payload of a StringIO.
#[derive(Trace)]
pub struct StringIo {
    /// READ | WRITE | APPEND, what is left of them after `close_read` and `close_write`.
    mode: u8,
    /// What it was opened with: reading or writing.
    opened: u8,
    own: State,
    /// The object that holds the state instead of `own`, once there are `dup`s.
    shared: Value,
}

impl State {
    fn values(&self, shared: Value, values: &mut Gathered) {
        values.extend([self.string, shared]);
    }
}

/// A state that several StringIOs share.
#[derive(Trace)]
struct Shared(State);

impl NativeData for Shared {
    fn parcel(&self, values: &mut Gathered) -> Option<Unpack> {
        values.push(self.0.string);
        let (pos, lineno, encoding) = (self.0.pos, self.0.lineno, self.0.encoding);
        Some(Box::new(move |_, v| Some(Unpacked::Payload(Box::new(Shared(State { string: v[0], pos, lineno, encoding }))))))
    }
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        values.push(self.0.string);
        Some(Place::of(&self.0).of_shared())
    }
}

impl NativeData for StringIo {
    fn parcel(&self, values: &mut Gathered) -> Option<Unpack> {
        self.own.values(self.shared, values);
        let (mode, opened, pos, lineno, encoding) = (self.mode, self.opened, self.own.pos, self.own.lineno, self.own.encoding);
        Some(Box::new(move |_, v| {
            let own = State { string: v[0], pos, lineno, encoding };
            Some(Unpacked::Payload(Box::new(StringIo { mode, opened, own, shared: v[1] })))
        }))
    }
    fn snapshot(&self, values: &mut Gathered) -> Option<Rebuild> {
        self.own.values(self.shared, values);
        Some(Place::of(&self.own).of_stream(self.mode, self.opened))
    }
}

/// What a state is beside its String.
#[derive(Clone, Copy)]
struct Place {
    pos: usize,
    lineno: i64,
    encoding: Option<u8>,
}

impl Place {
    fn of(s: &State) -> Place {
        Place { pos: s.pos, lineno: s.lineno, encoding: s.encoding }
    }
    fn state(self, string: Value) -> State {
        State { string, pos: self.pos, lineno: self.lineno, encoding: self.encoding }
    }
    fn of_shared(self) -> Rebuild {
        let save = move |out: &mut Saved| {
            self.save(out);
            Some("StringIO's state")
        };
        savable(move |_, v| Some(Box::new(Shared(self.state(v[0])))), save)
    }
    fn of_stream(self, mode: u8, opened: u8) -> Rebuild {
        let save = move |out: &mut Saved| {
            out.bytes.extend([mode, opened]);
            self.save(out);
            Some("StringIO")
        };
        savable(move |_, v| Some(Box::new(StringIo { mode, opened, own: self.state(v[0]), shared: v[1] })), save)
    }
    fn save(self, out: &mut Saved) {
        out.number(self.pos as u64).signed(self.lineno).option(self.encoding.map(u64::from));
    }
    fn load(r: &mut SavedReader) -> Option<Place> {
        let (pos, lineno) = (r.narrow()?, r.signed()?);
        let encoding = r.option()?.map(u8::try_from).transpose().ok()?;
        Some(Place { pos, lineno, encoding: encoding.filter(|e| zakuro_text::encoding::Encoding::from_id(*e).is_some()) })
    }
}

zakuro_vm::saved_loader!("StringIO's state", |r| {
    let place = Place::load(r)?;
    r.ends(1)?;
    Some(place.of_shared())
});
zakuro_vm::saved_loader!("StringIO", |r| {
    let (mode, opened) = (r.byte()?, r.byte()?);
    let place = Place::load(r)?;
    r.ends(2)?;
    Some(place.of_stream(mode, opened))
});

fn io(cx: &mut Cx, this: Value) -> Result<&mut StringIo> {
    let cell = cx.data_mut_of::<StringIo>(this).map(std::ptr::from_mut);
    match cell {
        // SAFETY: the payload, for as long as the VM is borrowed.
        Some(io) => Ok(unsafe { &mut *io }),
        None => cx.raise(ids::IO_ERROR, "uninitialized stream"),
    }
}

/// Position, line number and String.
pub fn state(cx: &mut Cx, this: Value) -> Result<&mut State> {
    state_for(cx, this, 0, "")
}

/// The same of one that is open for one of these, unless that is 0.
#[inline(always)]
fn state_for<'a>(cx: &'a mut Cx, this: Value, modes: u8, refused: &str) -> Result<&'a mut State> {
    let io = std::ptr::from_mut(io(cx, this)?);
    // SAFETY: the payload, for as long as the VM is borrowed.
    let io: &'a mut StringIo = unsafe { &mut *io };
    if modes != 0 && io.mode & modes == 0 {
        return cx.raise(ids::IO_ERROR, refused);
    }
    if io.shared.is_nil() { Ok(&mut io.own) } else { Ok(&mut cx.data_mut::<Shared>(io.shared)?.0) }
}

/// The state of a StringIO that is open for reading.
pub fn reader(cx: &mut Cx, this: Value) -> Result<&mut State> {
    state_for(cx, this, READ, "not opened for reading")
}

/// The state of a StringIO that is open for writing.
pub fn writer(cx: &mut Cx, this: Value) -> Result<&mut State> {
    cx.check_frozen(this)?;
    state_for(cx, this, WRITE, "not opened for writing")
}

fn open_state(cx: &mut Cx, this: Value) -> Result<&mut State> {
    state_for(cx, this, READ | WRITE, "closed stream")
}

impl State {
    /// The String; None for a StringIO over nil.
    pub fn text(&self) -> Option<Ref<StringCell>> {
        Ref::from_value(self.string)
    }
    pub fn len(&self) -> usize {
        self.text().map_or(0, |s| s.len())
    }
    /// Encoding of what is read; `default` for a StringIO over nil.
    pub fn encoding(&self, default: u8) -> u8 {
        self.encoding.or_else(|| self.text().map(|s| s.encoding())).unwrap_or(default)
    }
}

/// Encoding of what is read.
pub fn encoding(cx: &mut Cx, this: Value) -> Result<u8> {
    let s = state(cx, this)?;
    if s.encoding.is_none() && s.string.is_nil() { Ok(args::default_external(cx)) } else { Ok(s.encoding(string::UTF8)) }
}

/// IOError unless the String may be changed.
fn modifiable(cx: &mut Cx, this: Value) -> Result<Option<Ref<StringCell>>> {
    let text = state(cx, this)?.text();
    modifiable_text(cx, text)
}
fn modifiable_text(cx: &mut Cx, text: Option<Ref<StringCell>>) -> Result<Option<Ref<StringCell>>> {
    let Some(s) = text else { return Ok(None) };
    if s.as_value().is_frozen() && !s.as_value().is_chilled() {
        return cx.raise(ids::IO_ERROR, "not modifiable string");
    }
    cx.check_frozen(s.as_value())?;
    Ok(Some(s))
}

/// (Re)opens with `(string = "", mode = nil, **options)`.
fn open(cx: &mut Cx, this: Value, mut a: Args) -> Result<()> {
    let kw = a.take_kw();
    builtin::check_arity(cx, a.len(), 0, 2)?;
    let mut mode_arg = a.get(1).filter(|v| !v.is_nil());
    if let Some(m) = kw.named("mode") {
        if mode_arg.is_some() && !m.is_nil() {
            return cx.arg_error("mode specified twice");
        }
        mode_arg = mode_arg.or(Some(m).filter(|m| !m.is_nil()));
    }
    let mut mode = match mode_arg {
        Some(m) => Some(args::mode(cx, m)?),
        None => None,
    };
    let mut ext = mode.and_then(|m| m.encoding);
    let mut bom = mode.is_some_and(|m| m.bom);
    for name in ["external_encoding", "encoding", "internal_encoding"] {
        if let Some(e) = kw.named(name).filter(|e| !e.is_nil()) {
            if mode.is_some_and(|m| m.encoding.is_some()) {
                return cx.arg_error("encoding specified twice");
            }
            if name == "internal_encoding" {
                continue;
            }
            ext = Some(args::encoding(cx, e)?);
            bom |= Ref::<StringCell>::from_value(e).is_some_and(|e| args::without_bom(&e.to_text()).1);
        }
    }
    let (bin, text) = (kw.named("binmode"), kw.named("textmode"));
    let letters = mode.is_some_and(|m| m.binary || m.text);
    if letters && (bin.is_some() || text.is_some()) {
        return cx.arg_error(if bin.is_some() { "binmode specified twice" } else { "textmode specified twice" });
    }
    if bin.is_some_and(Value::truthy) && text.is_some_and(Value::truthy) {
        return cx.arg_error("both textmode and binmode specified");
    }
    let binary = kw.named("binmode").is_some_and(Value::truthy) || mode.is_some_and(|m| m.binary);
    if ext.is_none() && binary {
        ext = Some(string::BINARY);
    }
    let string = match a.get(0) {
        None => {
            let e = args::default_external(cx);
            cx.str_bytes(b"", e)
        }
        Some(Value::NIL) => Value::NIL,
        Some(v) => cx.to_str(v)?.as_value(),
    };
    let frozen = !string.is_nil() && string.is_frozen() && !string.is_chilled();
    if mode.is_none() {
        mode = Some(args::Mode { bits: if frozen { READ } else { READ | WRITE }, ..Default::default() });
    }
    let bits = mode.map_or(READ, |m| m.bits);
    if frozen && bits & WRITE != 0 {
        return raise_errno(cx, "EACCES");
    }
    if bits & TRUNCATE != 0
        && let Some(s) = Ref::<StringCell>::from_value(string)
    {
        cx.check_frozen(string)?;
        StringCell::set_bytes(s, &mut cx.heap, b"");
    }
    let mode = bits & (READ | WRITE | APPEND);
    // Of a String alone the encoding is that which it has now, whatever the options say.
    if let (1, Some(s)) = (a.len(), Ref::<StringCell>::from_value(string)) {
        ext = Some(s.encoding());
    }
    let own = State { string, pos: 0, lineno: 0, encoding: ext };
    establish(cx, this, mode, mode & (READ | WRITE), own)?;
    if bom {
        skip_bom(cx, this)?;
    }
    Ok(())
}

/// Makes `this` a stream with this state, which those that it is shared with see, too.
fn establish(cx: &mut Cx, this: Value, mode: u8, opened: u8, own: State) -> Result<()> {
    let shared = cx.data_mut_of::<StringIo>(this).map_or(Value::NIL, |io| io.shared);
    if !shared.is_nil() {
        cx.data_mut::<Shared>(shared)?.0 = own;
    }
    cx.data_init(this, StringIo { mode, opened, own, shared })?;
    Ok(())
}

/// Goes behind a byte order mark at the start and takes the encoding that it names; that encoding.
fn skip_bom(cx: &mut Cx, this: Value) -> Result<Option<u8>> {
    const MARKS: [(&[u8], &str); 5] = [
        (b"\xef\xbb\xbf", "UTF-8"),
        (b"\xff\xfe\0\0", "UTF-32LE"),
        (b"\xff\xfe", "UTF-16LE"),
        (b"\xfe\xff", "UTF-16BE"),
        (b"\0\0\xfe\xff", "UTF-32BE"),
    ];
    let text = state(cx, this)?.text();
    let found = text.and_then(|t| MARKS.iter().find(|(m, _)| t.content(&cx.heap).starts_with(m)));
    let Some((mark, name)) = found else {
        return Ok(None);
    };
    state(cx, this)?.pos = mark.len();
    let name = cx.str(name);
    let e = args::encoding(cx, name)?;
    take_encoding(cx, this, e)?;
    Ok(Some(e))
}

fn raise_errno<T>(cx: &mut Cx, name: &str) -> Result<T> {
    crate::raise_errno(cx, name, None)
}

pub(crate) use string_io::METHODS;

/// Methods of `StringIO`.
#[ruby_class(ids::OBJECT)]
mod string_io {
    use super::*;

    /// A StringIO over a String (a new one when none is given), open for reading and, unless the String is frozen, writing.
    ///
    ///     StringIO.new("a\nb").gets   #=> "a\n"
    ///     StringIO.new("abc", "a").tap { |io| io.write("d") }.string   #=> "abcd"
    #[method("initialize", private, min = 0, max = -1)]
    fn initialize(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        open(cx, this, args)?;
        Ok(this)
    }
    /// Calls `new`, with a warning when a block is given that will not be called.
    ///
    ///     StringIO.new("abc").read   #=> "abc"
    #[method("new", singleton, min = 0, max = -1)]
    fn new(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.block.is_some() {
            let name = cx.to_s_text(this)?;
            zakuro_core_base::exception::warning::emit(
                cx,
                &format!("warning: {name}::new() does not take block; use {name}::open() instead\n"),
            )?;
        }
        let object = cx.call(this, sym::allocate, &[])?;
        cx.call_full(object, sym::initialize, args.all(), args.kw, Block::NONE)?;
        Ok(object)
    }
    /// A new StringIO; with a block the block's result, and the StringIO is closed after it.
    ///
    ///     StringIO.open("abc") { |io| io.getc }   #=> "a"
    #[method("open", singleton, min = 0, max = -1)]
    fn open_(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        let object = cx.call_full(this, sym::new, args.all(), args.kw, Block::NONE)?;
        if args.block.is_none() {
            return Ok(object);
        }
        let result = cx.yield1(args.block, object);
        if let Ok(io) = cx.data_mut::<StringIo>(object) {
            io.mode = 0;
            io.own.string = Value::NIL;
            io.shared = Value::NIL;
        } else {
            cx.take_pending();
        }
        result
    }
    #[method("initialize_copy", private)]
    fn initialize_copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
        copy(cx, this, other)
    }
    /// Opens anew: like another StringIO, or with the arguments of `new`.
    ///
    ///     StringIO.new("abc").reopen(+"x").read   #=> "x"
    #[method("reopen", min = 0, max = -1)]
    fn reopen(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        if args.len() == 1
            && let Some(v) = args.get(0)
            && !v.is_kind(Kind::String)
        {
            return copy(cx, this, v);
        }
        cx.check_frozen(this)?;
        open(cx, this, args)?;
        Ok(this)
    }
    /// The String itself.
    ///
    ///     StringIO.new("abc").string   #=> "abc"
    #[method("string")]
    fn string(cx: &mut Cx, this: Value) -> Result<Value> {
        Ok(state(cx, this)?.string)
    }
    /// Goes over to another String, from its start.
    #[method("string=")]
    fn set_string(cx: &mut Cx, this: Value, s: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        let string = if s.is_nil() { s } else { cx.to_str(s)?.as_value() };
        let frozen = !string.is_nil() && string.is_frozen() && !string.is_chilled();
        let mode = if frozen { READ } else { READ | WRITE };
        let (mut own, mut encoding) = (mode, None);
        if cx.is_data::<StringIo>(this) {
            // What was closed stays closed.
            own = io(cx, this)?.mode & mode;
            encoding = state(cx, this)?.encoding;
        }
        establish(cx, this, own, mode, State { string, pos: 0, lineno: 0, encoding })?;
        Ok(string)
    }
    /// Closes both directions. Closing twice is fine.
    ///
    ///     io = StringIO.new("a"); io.close; io.closed?   #=> true
    #[method("close")]
    fn close(cx: &mut Cx, this: Value) -> Result<()> {
        io(cx, this)?.mode = 0;
        Ok(())
    }
    /// No more reading. IOError unless it was opened for reading.
    #[method("close_read")]
    fn close_read(cx: &mut Cx, this: Value) -> Result<()> {
        close_half(cx, this, READ, "reading")
    }
    /// No more writing. IOError unless it was opened for writing.
    #[method("close_write")]
    fn close_write(cx: &mut Cx, this: Value) -> Result<()> {
        close_half(cx, this, WRITE, "writing")
    }
    /// Whether it is closed for reading and writing.
    #[method("closed?")]
    fn closed(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(io(cx, this)?.mode & (READ | WRITE) == 0)
    }
    /// Whether it is closed (or was never open) for reading.
    ///
    ///     StringIO.new(+"", "w").closed_read?   #=> true
    #[method("closed_read?")]
    fn closed_read(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(io(cx, this)?.mode & READ == 0)
    }
    /// Whether it is closed (or was never open) for writing.
    #[method("closed_write?")]
    fn closed_write(cx: &mut Cx, this: Value) -> Result<bool> {
        Ok(io(cx, this)?.mode & WRITE == 0)
    }
    /// Position in bytes.
    ///
    ///     io = StringIO.new("äb"); io.getc; io.pos   #=> 2
    #[method("pos", "tell")]
    fn pos(cx: &mut Cx, this: Value) -> Result<usize> {
        Ok(state(cx, this)?.pos)
    }
    /// Goes to a position; behind the end is fine.
    #[method("pos=")]
    fn set_pos(cx: &mut Cx, this: Value, n: i64) -> Result<Value> {
        cx.check_frozen(this)?;
        let Ok(at) = usize::try_from(n) else { return raise_errno(cx, "EINVAL") };
        state(cx, this)?.pos = at;
        Ok(cx.int(n))
    }
    /// Back to the start, line number included.
    #[method("rewind")]
    fn rewind(cx: &mut Cx, this: Value) -> Result<i64> {
        cx.check_frozen(this)?;
        let s = state(cx, this)?;
        (s.pos, s.lineno) = (0, 0);
        Ok(0)
    }
    /// Goes to an offset from the start, the position (IO::SEEK_CUR) or the end (IO::SEEK_END).
    ///
    ///     io = StringIO.new("hello"); io.seek(-2, IO::SEEK_END); io.read   #=> "lo"
    #[method("seek")]
    fn seek(cx: &mut Cx, this: Value, offset: i64, whence: Option<Value>) -> Result<i64> {
        cx.check_frozen(this)?;
        open_state(cx, this)?;
        let whence = match whence.unwrap_or(Value::NIL) {
            Value::NIL => 0,
            v => match v.as_sym().map(|s| s.name().into_owned()).as_deref() {
                Some("SET") => 0,
                Some("CUR") => 1,
                Some("END") => 2,
                _ => cx.to_i64(v)?,
            },
        };
        let s = state(cx, this)?;
        let base = match whence {
            0 => 0,
            1 => s.pos as i64,
            2 => s.len() as i64,
            _ => return crate::raise_errno(cx, "EINVAL", Some("invalid whence")),
        };
        match base.checked_add(offset).and_then(|n| usize::try_from(n).ok()) {
            Some(n) => s.pos = n,
            None => return raise_errno(cx, "EINVAL"),
        }
        Ok(0)
    }
    /// Number of lines read, unless it was set.
    ///
    ///     io = StringIO.new("a\nb\n"); io.gets; io.lineno   #=> 1
    #[method("lineno")]
    fn lineno(cx: &mut Cx, this: Value) -> Result<i64> {
        Ok(state(cx, this)?.lineno)
    }
    /// Sets the number of lines that were read.
    #[method("lineno=")]
    fn set_lineno(cx: &mut Cx, this: Value, n: i64) -> Result<()> {
        cx.check_frozen(this)?;
        state(cx, this)?.lineno = n;
        Ok(())
    }
    /// Whether nothing is left to read.
    ///
    ///     StringIO.new("").eof?   #=> true
    #[method("eof?", "eof")]
    fn eof(cx: &mut Cx, this: Value) -> Result<bool> {
        let s = reader(cx, this)?;
        Ok(s.pos >= s.len())
    }
    /// Bytes of the String.
    ///
    ///     StringIO.new("ä").size   #=> 2
    #[method("size", "length")]
    fn size(cx: &mut Cx, this: Value) -> Result<usize> {
        match state(cx, this)?.text() {
            Some(s) => Ok(s.len()),
            None => cx.raise(ids::IO_ERROR, "not opened"),
        }
    }
    /// Encoding of what is read.
    ///
    ///     StringIO.new("a").external_encoding   #=> #<Encoding:UTF-8>
    #[method("external_encoding")]
    fn external_encoding(cx: &mut Cx, this: Value) -> Result<Value> {
        let e = encoding(cx, this)?;
        args::encoding_object(cx, e)
    }
    /// Always nil: nothing is converted.
    #[method("internal_encoding")]
    fn internal_encoding(_this: Value) {}
    /// Sets the encoding of what is read (nil: the default external one), and of the String when it may be written. A name that is unknown warns.
    ///
    ///     StringIO.new(+"a").set_encoding("BINARY").read.encoding   #=> #<Encoding:BINARY (ASCII-8BIT)>
    #[method("set_encoding", min = 1, max = 2)]
    fn set_encoding(cx: &mut Cx, this: Value, args: Args) -> Result<Value> {
        cx.check_frozen(this)?;
        let e = match args.get(0) {
            None | Some(Value::NIL) => args::default_external(cx),
            Some(v) if cx.is_a(v, ids::ENCODING) => args::encoding(cx, v)?,
            Some(v) => {
                let name = cx.to_str(v)?;
                match args::encoding(cx, name.as_value()) {
                    Ok(e) if !args::without_bom(&name.to_text()).1 => e,
                    found => {
                        if found.is_err() {
                            cx.take_pending();
                            let name = name.to_text();
                            let first = name.split(':').next().unwrap_or_default();
                            cx.warn_here(&format!("Unsupported encoding {first} ignored"))?;
                        }
                        // What a String is that may be written: bytes; what cannot keeps its encoding.
                        take_encoding(cx, this, string::BINARY)?;
                        state(cx, this)?.encoding = None;
                        return Ok(this);
                    }
                }
            }
        };
        take_encoding(cx, this, e)?;
        Ok(this)
    }
    /// Sets the encoding that a byte order mark at the start names, and goes behind it. nil without one.
    ///
    ///     StringIO.new("\uFEFFabc").set_encoding_by_bom   #=> #<Encoding:UTF-8>
    #[method("set_encoding_by_bom")]
    fn set_encoding_by_bom(cx: &mut Cx, this: Value) -> Result<Value> {
        cx.check_frozen(this)?;
        match skip_bom(cx, this)? {
            Some(e) => args::encoding_object(cx, e),
            None => Ok(Value::NIL),
        }
    }
    /// Reads and writes bytes from now on.
    #[method("binmode")]
    fn binmode(cx: &mut Cx, this: Value) -> Result<Value> {
        state(cx, this)?.encoding = Some(string::BINARY);
        if io(cx, this)?.mode & WRITE != 0 {
            take_encoding(cx, this, string::BINARY)?;
        }
        Ok(this)
    }
    /// NotImplementedError.
    #[method("fcntl", min = 0, max = -1)]
    fn fcntl(cx: &mut Cx, _this: Value, _args: Args) -> Result<()> {
        cx.raise(ids::NOT_IMPLEMENTED_ERROR, "fcntl() function is unimplemented on this machine")
    }
    /// nil: there is no descriptor.
    #[method("fileno", "pid")]
    fn fileno(_this: Value) {}
    /// Nothing to do: itself.
    #[method("flush")]
    fn flush(this: Value) -> Value {
        this
    }
    /// Nothing to do: 0.
    #[method("fsync")]
    fn fsync(_this: Value) -> i64 {
        0
    }
    /// false
    #[method("tty?", "isatty")]
    fn tty(_this: Value) -> bool {
        false
    }
    /// true: nothing is buffered.
    #[method("sync")]
    fn sync(_this: Value) -> bool {
        true
    }
    /// Changes nothing: nothing waits to be written.
    #[method("sync=")]
    fn set_sync(_this: Value, v: Value) -> Value {
        v
    }
}

fn take_encoding(cx: &mut Cx, this: Value, e: u8) -> Result<()> {
    let writable = io(cx, this)?.mode & WRITE != 0;
    let s = state(cx, this)?;
    s.encoding = Some(e);
    if let Some(t) = s.text()
        && writable
        // A literal keeps its own.
        && !t.as_value().is_frozen()
        && !t.as_value().is_chilled()
        && t.encoding() != e
    {
        t.set_encoding(e);
    }
    Ok(())
}

fn close_half(cx: &mut Cx, this: Value, half: u8, what: &str) -> Result<()> {
    let io = io(cx, this)?;
    if io.opened & half == 0 {
        return cx.raise(ids::IO_ERROR, format!("closing non-duplex IO for {what}"));
    }
    io.mode &= !half;
    Ok(())
}

/// Makes `this` another view of the state of `other`.
fn copy(cx: &mut Cx, this: Value, other: Value) -> Result<Value> {
    cx.check_frozen(this)?;
    let other = if cx.is_data::<StringIo>(other) {
        other
    } else {
        match cx.call_if_responds(other, Sym::intern("to_strio"), &[])? {
            Some(o) if cx.is_data::<StringIo>(o) => o,
            _ => return cx.no_conversion(other, "StringIO"),
        }
    };
    if this == other {
        return Ok(this);
    }
    let o = io(cx, other)?;
    if o.shared.is_nil() {
        let s = o.own;
        let class = cx.class_of(other);
        let shared = cx.data(class, Shared(s));
        io(cx, other)?.shared = shared;
    }
    let o = io(cx, other)?;
    let (mode, opened, own, shared) = (o.mode, o.opened, o.own, o.shared);
    cx.data_init(this, StringIo { mode, opened, own, shared })?;
    Ok(this)
}

/// `require "stringio"`
pub fn load(cx: &mut Cx) -> Result<()> {
    let class = cx.define_class(ids::OBJECT, "StringIO", ids::OBJECT);
    cx.class_mut(class).alloc = Alloc::Data;
    cx.include_module(class, ids::ENUMERABLE)?;
    let version = cx.frozen_str("3.2.0");
    cx.const_set(class, Sym::intern("VERSION"), version);
    let max = cx.int(i64::MAX);
    cx.const_set(class, Sym::intern("MAX_LENGTH"), max);
    cx.define_natives(class, &[METHODS, read::METHODS, write::METHODS]);
    for (name, rows) in [("generic_readable", read::readable::METHODS), ("generic_writable", write::writable::METHODS)] {
        let module = cx.define_module(ids::IO, name);
        cx.define_natives(module, &[rows]);
        cx.include_module(class, module)?;
    }
    Ok(())
}
