//! The effects of builtins that machine code will call most, as their signatures say: a signature that widens shows here.

use zakuro_runtime::effects::all;

/// Name, effects, and those without conversions of arguments where they differ.
const EXPECTED: &str = "
Array#[]: raises, runs Ruby
Array#length: leaf
Array#empty?: leaf
Array#at: raises, runs Ruby; without conversions: leaf
Array#first: raises, runs Ruby; without conversions: allocates
Array#last: raises, runs Ruby; without conversions: allocates
Array#push: allocates, changes, raises
Array#<<: allocates, changes, raises
Array#pop: raises, runs Ruby
Array#clear: allocates, changes, raises
Array#reverse: allocates
Array#reverse!: allocates, changes, raises
Array#to_ary: leaf
Array#inspect: raises, runs Ruby
Array#each: raises, runs Ruby
String#length: leaf
String#bytesize: leaf
String#empty?: leaf
String#eql?: leaf
String#getbyte: raises, runs Ruby; without conversions: leaf
String#==: raises, runs Ruby
String#to_s: allocates
String#ascii_only?: leaf
String#encoding: allocates
Hash#[]: raises, runs Ruby
Hash#size: leaf
Hash#empty?: leaf
Hash#keys: allocates
Hash#key?: raises, runs Ruby
Symbol#to_sym: leaf
Symbol#to_s: allocates
Symbol#length: allocates
Symbol#==: leaf
Symbol#<=>: allocates
Integer#+: raises, runs Ruby
Integer#even?: leaf
Integer#zero?: leaf
Integer#to_f: allocates
Integer#bit_length: allocates
Integer#eql?: leaf
Float#nan?: leaf
Float#zero?: leaf
Float#abs: allocates
Float#to_s: allocates
Float#+: raises, runs Ruby
Math#sin: raises, runs Ruby; without conversions: allocates
Kernel#nil?: leaf
Kernel#is_a?: raises; without conversions: leaf
Kernel#instance_of?: raises; without conversions: leaf
Kernel#class: leaf
Kernel#frozen?: leaf
Kernel#hash: allocates
Kernel#freeze: runs Ruby
Kernel#itself: leaf
Kernel#send: raises, runs Ruby
BasicObject#==: leaf
BasicObject#equal?: leaf
BasicObject#!: leaf
BasicObject#!=: raises, runs Ruby
NilClass#to_a: allocates
NilClass#nil?: leaf
TrueClass#&: leaf
Module#===: leaf
Module#hash: allocates
Range#begin: leaf
Range#exclude_end?: leaf
Proc#lambda?: leaf
Proc#call: raises, runs Ruby
";

#[test]
fn effects_of_hot_builtins() {
    let all = all();
    let shown = |name: &str| match all.get(name) {
        Some((effects, direct)) if effects == direct => format!("{name}: {effects}"),
        Some((effects, direct)) => format!("{name}: {effects}; without conversions: {direct}"),
        None => format!("{name}: no such builtin"),
    };
    for line in EXPECTED.trim().lines() {
        let (name, _) = line.split_once(": ").unwrap();
        assert_eq!(shown(name), line);
    }
}
