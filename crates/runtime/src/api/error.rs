//! What can go wrong, and how a VM ended: values, never panics.

use std::fmt;
use zakuro_vm::host::End;
use zakuro_vm::limits::Limit;

/// A Ruby exception that nobody rescued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exception {
    pub class: String,
    pub message: String,
    /// `FILE:LINE:in 'METHOD'`, innermost first.
    pub backtrace: Vec<String>,
    /// As Ruby would print it on standard error.
    pub report: String,
}

/// How a VM ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its program ran to the end.
    Done,
    /// `exit` with this status.
    Exit(i32),
    /// An uncaught exception.
    Exception(Exception),
    /// Killed by [`super::Vm::kill`] or by another VM.
    Killed,
    /// It hit one of its limits.
    Limit { limit: Limit, message: String },
    /// An uncaught SignalException.
    Signal(i32),
    /// An error in Zakuro itself, contained in this VM.
    Internal(String),
}

impl Outcome {
    /// The exit status that a process which ended so would have.
    pub fn status(&self) -> i32 {
        match self {
            Outcome::Done => 0,
            Outcome::Exit(s) => *s,
            Outcome::Signal(n) => 128 + n,
            _ => 1,
        }
    }
    pub fn is_success(&self) -> bool {
        self.status() == 0
    }
    /// Everything but an end with status 0 is an error.
    pub fn into_result(self) -> Result<(), Error> {
        match self {
            o if o.is_success() => Ok(()),
            Outcome::Exception(e) => Err(Error::Exception(e)),
            o => Err(Error::Ended(o)),
        }
    }
    pub(super) fn of(end: End, exception: Option<Exception>) -> Outcome {
        match end {
            End::Done => Outcome::Done,
            End::Exit(s) => Outcome::Exit(s),
            End::Exception { class, message, report } => {
                let backtrace = exception.map(|e| e.backtrace).unwrap_or_default();
                Outcome::Exception(Exception { class, message, backtrace, report: String::from_utf8_lossy(&report).into_owned() })
            }
            End::Panic(text) => Outcome::Internal(text),
            End::Killed => Outcome::Killed,
            End::Limit { limit, message, .. } => Outcome::Limit { limit, message },
            End::Signal { number, .. } => Outcome::Signal(number),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Done => f.write_str("ended"),
            Outcome::Exit(s) => write!(f, "exit status {s}"),
            Outcome::Exception(e) => write!(f, "{} ({})", e.message, e.class),
            Outcome::Killed => f.write_str("killed"),
            Outcome::Limit { message, .. } => f.write_str(message),
            Outcome::Signal(n) => write!(f, "ended by signal {n}"),
            Outcome::Internal(text) => write!(f, "internal error: {text}"),
        }
    }
}

/// An error of the embedding API.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The called Ruby code raised.
    Exception(Exception),
    /// The VM ended before it answered.
    Ended(Outcome),
    /// The channel is closed (for receivers: and empty).
    Closed,
    /// The time is over.
    TimedOut,
    /// A value is of another kind than asked for, or can't leave or enter a VM.
    Convert(String),
    /// A file can't be read.
    File { path: String, message: String },
    /// The builder was given something that can't be.
    Invalid(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exception(e) => write!(f, "{} ({})", e.message, e.class),
            Error::Ended(o) => write!(f, "the VM has ended: {o}"),
            Error::Closed => f.write_str("the channel is closed"),
            Error::TimedOut => f.write_str("timed out"),
            Error::Convert(text) | Error::Invalid(text) => f.write_str(text),
            Error::File { path, message } => write!(f, "{path}: {message}"),
        }
    }
}

impl std::error::Error for Error {}
