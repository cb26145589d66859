# Reading and writing values at an address, one method for each kind and way. Numbers are those of kinds (interface.rs).
module FFI
  class AbstractMemory
    # Reads a signed 8-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_int8(at) = __get(1, at)
    # Writes `value` as a signed 8-bit integer at the byte offset `at`, and answers the memory.
    def put_int8(at, value) = __put(1, at, value)
    # Reads a signed 8-bit integer at the start of the memory.
    def read_int8 = __get(1, 0)
    # Writes `value` as a signed 8-bit integer at the start of the memory, and answers the memory.
    def write_int8(value) = __put(1, 0, value)
    # An Array of `count` signed 8-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_int8(at, count) = __get_all(1, at, count)
    # Writes the elements of `list` as signed 8-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_int8(at, list) = __put_all(1, at, list)
    # An Array of the first `count` signed 8-bit integers of the memory.
    def read_array_of_int8(count) = __get_all(1, 0, count)
    # Writes the elements of `list` as signed 8-bit integers from the start of the memory on, and answers the memory.
    def write_array_of_int8(list) = __put_all(1, 0, list)
    # Reads an unsigned 8-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_uint8(at) = __get(2, at)
    # Writes `value` as an unsigned 8-bit integer at the byte offset `at`, and answers the memory.
    def put_uint8(at, value) = __put(2, at, value)
    # Reads an unsigned 8-bit integer at the start of the memory.
    def read_uint8 = __get(2, 0)
    # Writes `value` as an unsigned 8-bit integer at the start of the memory, and answers the memory.
    def write_uint8(value) = __put(2, 0, value)
    # An Array of `count` unsigned 8-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_uint8(at, count) = __get_all(2, at, count)
    # Writes the elements of `list` as unsigned 8-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_uint8(at, list) = __put_all(2, at, list)
    # An Array of the first `count` unsigned 8-bit integers of the memory.
    def read_array_of_uint8(count) = __get_all(2, 0, count)
    # Writes the elements of `list` as unsigned 8-bit integers from the start of the memory on, and answers the memory.
    def write_array_of_uint8(list) = __put_all(2, 0, list)
    # Reads a signed 16-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_int16(at) = __get(3, at)
    # Writes `value` as a signed 16-bit integer at the byte offset `at`, and answers the memory.
    def put_int16(at, value) = __put(3, at, value)
    # Reads a signed 16-bit integer at the start of the memory.
    def read_int16 = __get(3, 0)
    # Writes `value` as a signed 16-bit integer at the start of the memory, and answers the memory.
    def write_int16(value) = __put(3, 0, value)
    # An Array of `count` signed 16-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_int16(at, count) = __get_all(3, at, count)
    # Writes the elements of `list` as signed 16-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_int16(at, list) = __put_all(3, at, list)
    # An Array of the first `count` signed 16-bit integers of the memory.
    def read_array_of_int16(count) = __get_all(3, 0, count)
    # Writes the elements of `list` as signed 16-bit integers from the start of the memory on, and answers the memory.
    def write_array_of_int16(list) = __put_all(3, 0, list)
    # Reads an unsigned 16-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_uint16(at) = __get(4, at)
    # Writes `value` as an unsigned 16-bit integer at the byte offset `at`, and answers the memory.
    def put_uint16(at, value) = __put(4, at, value)
    # Reads an unsigned 16-bit integer at the start of the memory.
    def read_uint16 = __get(4, 0)
    # Writes `value` as an unsigned 16-bit integer at the start of the memory, and answers the memory.
    def write_uint16(value) = __put(4, 0, value)
    # An Array of `count` unsigned 16-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_uint16(at, count) = __get_all(4, at, count)
    # Writes the elements of `list` as unsigned 16-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_uint16(at, list) = __put_all(4, at, list)
    # An Array of the first `count` unsigned 16-bit integers of the memory.
    def read_array_of_uint16(count) = __get_all(4, 0, count)
    # Writes the elements of `list` as unsigned 16-bit integers from the start of the memory on, and answers the memory.
    def write_array_of_uint16(list) = __put_all(4, 0, list)
    # Reads a signed 32-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    #
    #     FFI::MemoryPointer.new(:int32, 2).put_int32(4, 7).get_int32(4)   #=> 7
    def get_int32(at) = __get(5, at)
    # Writes `value` as a signed 32-bit integer at the byte offset `at`, and answers the memory.
    def put_int32(at, value) = __put(5, at, value)
    # Reads a signed 32-bit integer at the start of the memory.
    def read_int32 = __get(5, 0)
    # Writes `value` as a signed 32-bit integer at the start of the memory, and answers the memory.
    def write_int32(value) = __put(5, 0, value)
    # An Array of `count` signed 32-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_int32(at, count) = __get_all(5, at, count)
    # Writes the elements of `list` as signed 32-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_int32(at, list) = __put_all(5, at, list)
    # An Array of the first `count` signed 32-bit integers of the memory.
    def read_array_of_int32(count) = __get_all(5, 0, count)
    # Writes the elements of `list` as signed 32-bit integers from the start of the memory on, and answers the memory.
    #
    #     FFI::MemoryPointer.new(:int32, 3).write_array_of_int32([1, 2, 3]).read_array_of_int32(2)   #=> [1, 2]
    def write_array_of_int32(list) = __put_all(5, 0, list)
    # Reads an unsigned 32-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_uint32(at) = __get(6, at)
    # Writes `value` as an unsigned 32-bit integer at the byte offset `at`, and answers the memory.
    def put_uint32(at, value) = __put(6, at, value)
    # Reads an unsigned 32-bit integer at the start of the memory.
    def read_uint32 = __get(6, 0)
    # Writes `value` as an unsigned 32-bit integer at the start of the memory, and answers the memory.
    def write_uint32(value) = __put(6, 0, value)
    # An Array of `count` unsigned 32-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_uint32(at, count) = __get_all(6, at, count)
    # Writes the elements of `list` as unsigned 32-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_uint32(at, list) = __put_all(6, at, list)
    # An Array of the first `count` unsigned 32-bit integers of the memory.
    def read_array_of_uint32(count) = __get_all(6, 0, count)
    # Writes the elements of `list` as unsigned 32-bit integers from the start of the memory on, and answers the memory.
    def write_array_of_uint32(list) = __put_all(6, 0, list)
    # Reads a signed 64-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_int64(at) = __get(7, at)
    # Writes `value` as a signed 64-bit integer at the byte offset `at`, and answers the memory.
    def put_int64(at, value) = __put(7, at, value)
    # Reads a signed 64-bit integer at the start of the memory.
    def read_int64 = __get(7, 0)
    # Writes `value` as a signed 64-bit integer at the start of the memory, and answers the memory.
    def write_int64(value) = __put(7, 0, value)
    # An Array of `count` signed 64-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_int64(at, count) = __get_all(7, at, count)
    # Writes the elements of `list` as signed 64-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_int64(at, list) = __put_all(7, at, list)
    # An Array of the first `count` signed 64-bit integers of the memory.
    def read_array_of_int64(count) = __get_all(7, 0, count)
    # Writes the elements of `list` as signed 64-bit integers from the start of the memory on, and answers the memory.
    def write_array_of_int64(list) = __put_all(7, 0, list)
    # Reads an unsigned 64-bit integer at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_uint64(at) = __get(8, at)
    # Writes `value` as an unsigned 64-bit integer at the byte offset `at`, and answers the memory.
    def put_uint64(at, value) = __put(8, at, value)
    # Reads an unsigned 64-bit integer at the start of the memory.
    def read_uint64 = __get(8, 0)
    # Writes `value` as an unsigned 64-bit integer at the start of the memory, and answers the memory.
    def write_uint64(value) = __put(8, 0, value)
    # An Array of `count` unsigned 64-bit integers that stand one after another from the byte offset `at` on.
    def get_array_of_uint64(at, count) = __get_all(8, at, count)
    # Writes the elements of `list` as unsigned 64-bit integers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_uint64(at, list) = __put_all(8, at, list)
    # An Array of the first `count` unsigned 64-bit integers of the memory.
    def read_array_of_uint64(count) = __get_all(8, 0, count)
    # Writes the elements of `list` as unsigned 64-bit integers from the start of the memory on, and answers the memory.
    def write_array_of_uint64(list) = __put_all(8, 0, list)
    # Reads a C `long` at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_long(at) = __get(7, at)
    # Writes `value` as a C `long` at the byte offset `at`, and answers the memory.
    def put_long(at, value) = __put(7, at, value)
    # Reads a C `long` at the start of the memory.
    def read_long = __get(7, 0)
    # Writes `value` as a C `long` at the start of the memory, and answers the memory.
    def write_long(value) = __put(7, 0, value)
    # An Array of `count` C `long` values that stand one after another from the byte offset `at` on.
    def get_array_of_long(at, count) = __get_all(7, at, count)
    # Writes the elements of `list` as C `long` values, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_long(at, list) = __put_all(7, at, list)
    # An Array of the first `count` C `long` values of the memory.
    def read_array_of_long(count) = __get_all(7, 0, count)
    # Writes the elements of `list` as C `long` values from the start of the memory on, and answers the memory.
    def write_array_of_long(list) = __put_all(7, 0, list)
    # Reads a C `unsigned long` at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_ulong(at) = __get(8, at)
    # Writes `value` as a C `unsigned long` at the byte offset `at`, and answers the memory.
    def put_ulong(at, value) = __put(8, at, value)
    # Reads a C `unsigned long` at the start of the memory.
    def read_ulong = __get(8, 0)
    # Writes `value` as a C `unsigned long` at the start of the memory, and answers the memory.
    def write_ulong(value) = __put(8, 0, value)
    # An Array of `count` C `unsigned long` values that stand one after another from the byte offset `at` on.
    def get_array_of_ulong(at, count) = __get_all(8, at, count)
    # Writes the elements of `list` as C `unsigned long` values, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_ulong(at, list) = __put_all(8, at, list)
    # An Array of the first `count` C `unsigned long` values of the memory.
    def read_array_of_ulong(count) = __get_all(8, 0, count)
    # Writes the elements of `list` as C `unsigned long` values from the start of the memory on, and answers the memory.
    def write_array_of_ulong(list) = __put_all(8, 0, list)
    # Reads a 32-bit float at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_float32(at) = __get(9, at)
    # Writes `value` as a 32-bit float at the byte offset `at`, and answers the memory.
    def put_float32(at, value) = __put(9, at, value)
    # Reads a 32-bit float at the start of the memory.
    def read_float32 = __get(9, 0)
    # Writes `value` as a 32-bit float at the start of the memory, and answers the memory.
    def write_float32(value) = __put(9, 0, value)
    # An Array of `count` 32-bit floats that stand one after another from the byte offset `at` on.
    def get_array_of_float32(at, count) = __get_all(9, at, count)
    # Writes the elements of `list` as 32-bit floats, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_float32(at, list) = __put_all(9, at, list)
    # An Array of the first `count` 32-bit floats of the memory.
    def read_array_of_float32(count) = __get_all(9, 0, count)
    # Writes the elements of `list` as 32-bit floats from the start of the memory on, and answers the memory.
    def write_array_of_float32(list) = __put_all(9, 0, list)
    # Reads a 64-bit float at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_float64(at) = __get(10, at)
    # Writes `value` as a 64-bit float at the byte offset `at`, and answers the memory.
    def put_float64(at, value) = __put(10, at, value)
    # Reads a 64-bit float at the start of the memory.
    def read_float64 = __get(10, 0)
    # Writes `value` as a 64-bit float at the start of the memory, and answers the memory.
    def write_float64(value) = __put(10, 0, value)
    # An Array of `count` 64-bit floats that stand one after another from the byte offset `at` on.
    def get_array_of_float64(at, count) = __get_all(10, at, count)
    # Writes the elements of `list` as 64-bit floats, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_float64(at, list) = __put_all(10, at, list)
    # An Array of the first `count` 64-bit floats of the memory.
    def read_array_of_float64(count) = __get_all(10, 0, count)
    # Writes the elements of `list` as 64-bit floats from the start of the memory on, and answers the memory.
    def write_array_of_float64(list) = __put_all(10, 0, list)
    # Reads a C `long double` at the byte offset `at`; IndexError if it does not lie inside of the memory.
    def get_long_double(at) = __get(11, at)
    # Writes `value` as a C `long double` at the byte offset `at`, and answers the memory.
    def put_long_double(at, value) = __put(11, at, value)
    # Reads a C `long double` at the start of the memory.
    def read_long_double = __get(11, 0)
    # Writes `value` as a C `long double` at the start of the memory, and answers the memory.
    def write_long_double(value) = __put(11, 0, value)
    # An Array of `count` C `long double` values that stand one after another from the byte offset `at` on.
    def get_array_of_long_double(at, count) = __get_all(11, at, count)
    # Writes the elements of `list` as C `long double` values, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_long_double(at, list) = __put_all(11, at, list)
    # An Array of the first `count` C `long double` values of the memory.
    def read_array_of_long_double(count) = __get_all(11, 0, count)
    # Writes the elements of `list` as C `long double` values from the start of the memory on, and answers the memory.
    def write_array_of_long_double(list) = __put_all(11, 0, list)
    # Reads a C `bool` at the byte offset `at` as true or false; IndexError if it does not lie inside of the memory.
    def get_bool(at) = __get(14, at)
    # Writes `value` as a C `bool` at the byte offset `at`, and answers the memory.
    def put_bool(at, value) = __put(14, at, value)
    # Reads a C `bool` at the start of the memory as true or false.
    def read_bool = __get(14, 0)
    # Writes `value` as a C `bool` at the start of the memory, and answers the memory.
    def write_bool(value) = __put(14, 0, value)
    # An Array of `count` C `bool` values that stand one after another from the byte offset `at` on.
    def get_array_of_bool(at, count) = __get_all(14, at, count)
    # Writes the elements of `list` as C `bool` values, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_bool(at, list) = __put_all(14, at, list)
    # An Array of the first `count` C `bool` values of the memory.
    def read_array_of_bool(count) = __get_all(14, 0, count)
    # Writes the elements of `list` as C `bool` values from the start of the memory on, and answers the memory.
    def write_array_of_bool(list) = __put_all(14, 0, list)
    # Reads a pointer at the byte offset `at` as FFI::Pointer; IndexError if it does not lie inside of the memory.
    def get_pointer(at) = Pointer.__at(__get(12, at))
    # Writes `value` as a pointer at the byte offset `at`, and answers the memory.
    def put_pointer(at, value) = __put(12, at, value)
    # Reads a pointer at the start of the memory as FFI::Pointer.
    def read_pointer = Pointer.__at(__get(12, 0))
    # Writes `value` as a pointer at the start of the memory, and answers the memory.
    def write_pointer(value) = __put(12, 0, value)
    # An Array of `count` pointers that stand one after another from the byte offset `at` on.
    def get_array_of_pointer(at, count) = __get_all(12, at, count).map! { |n| Pointer.__at(n) }
    # Writes the elements of `list` as pointers, one after another from the byte offset `at` on, and answers the memory.
    def put_array_of_pointer(at, list) = __put_all(12, at, list)
    # An Array of the first `count` pointers of the memory.
    def read_array_of_pointer(count) = get_array_of_pointer(0, count)
    # Writes the elements of `list` as pointers from the start of the memory on, and answers the memory.
    def write_array_of_pointer(list) = __put_all(12, 0, list)

    alias get_char get_int8; alias put_char put_int8; alias read_char read_int8; alias write_char write_int8
    alias get_array_of_char get_array_of_int8; alias put_array_of_char put_array_of_int8; alias read_array_of_char read_array_of_int8; alias write_array_of_char write_array_of_int8
    alias get_uchar get_uint8; alias put_uchar put_uint8; alias read_uchar read_uint8; alias write_uchar write_uint8
    alias get_array_of_uchar get_array_of_uint8; alias put_array_of_uchar put_array_of_uint8; alias read_array_of_uchar read_array_of_uint8; alias write_array_of_uchar write_array_of_uint8
    alias get_short get_int16; alias put_short put_int16; alias read_short read_int16; alias write_short write_int16
    alias get_array_of_short get_array_of_int16; alias put_array_of_short put_array_of_int16; alias read_array_of_short read_array_of_int16; alias write_array_of_short write_array_of_int16
    alias get_ushort get_uint16; alias put_ushort put_uint16; alias read_ushort read_uint16; alias write_ushort write_uint16
    alias get_array_of_ushort get_array_of_uint16; alias put_array_of_ushort put_array_of_uint16; alias read_array_of_ushort read_array_of_uint16; alias write_array_of_ushort write_array_of_uint16
    alias get_int get_int32; alias put_int put_int32; alias read_int read_int32; alias write_int write_int32
    alias get_array_of_int get_array_of_int32; alias put_array_of_int put_array_of_int32; alias read_array_of_int read_array_of_int32; alias write_array_of_int write_array_of_int32
    alias get_uint get_uint32; alias put_uint put_uint32; alias read_uint read_uint32; alias write_uint write_uint32
    alias get_array_of_uint get_array_of_uint32; alias put_array_of_uint put_array_of_uint32; alias read_array_of_uint read_array_of_uint32; alias write_array_of_uint write_array_of_uint32
    alias get_long_long get_int64; alias put_long_long put_int64; alias read_long_long read_int64; alias write_long_long write_int64
    alias get_array_of_long_long get_array_of_int64; alias put_array_of_long_long put_array_of_int64; alias read_array_of_long_long read_array_of_int64; alias write_array_of_long_long write_array_of_int64
    alias get_ulong_long get_uint64; alias put_ulong_long put_uint64; alias read_ulong_long read_uint64; alias write_ulong_long write_uint64
    alias get_array_of_ulong_long get_array_of_uint64; alias put_array_of_ulong_long put_array_of_uint64; alias read_array_of_ulong_long read_array_of_uint64; alias write_array_of_ulong_long write_array_of_uint64
    alias get_float get_float32; alias put_float put_float32; alias read_float read_float32; alias write_float write_float32
    alias get_array_of_float get_array_of_float32; alias put_array_of_float put_array_of_float32; alias read_array_of_float read_array_of_float32; alias write_array_of_float write_array_of_float32
    alias get_double get_float64; alias put_double put_float64; alias read_double read_float64; alias write_double write_float64
    alias get_array_of_double get_array_of_float64; alias put_array_of_double put_array_of_float64; alias read_array_of_double read_array_of_float64; alias write_array_of_double write_array_of_float64
  end
end
