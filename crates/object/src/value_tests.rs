use super::*;

#[test]
fn truthiness() {
    assert!(!Value::NIL.truthy() && !Value::FALSE.truthy());
    assert!(Value::TRUE.truthy() && Value::fixnum(0).truthy() && Value::sym(zakuro_base::sym::add).truthy());
}

#[test]
fn fixnum_borders() {
    for i in [0, 1, -1, FIXNUM_MAX, FIXNUM_MIN] {
        assert_eq!(Value::fixnum(i).fix(), i);
    }
    assert!(Value::try_fixnum(FIXNUM_MAX + 1).is_none() && Value::try_fixnum(FIXNUM_MIN - 1).is_none());
}

#[test]
fn flonum_round_trip() {
    for d in [0.0, 1.0, -1.0, 1.5, 3.14e10, -2.5e-20, 1e77, 0.1] {
        let v = Value::flonum(d).unwrap();
        assert!(v.is_flonum() && !v.is_fixnum() && !v.is_cell());
        assert_eq!(v.flo().to_bits(), f64::to_bits(d));
    }
    for d in [-0.0, 1e300, 1e-300, f64::INFINITY, f64::NAN] {
        assert!(Value::flonum(d).is_none(), "{d}");
    }
}

#[test]
fn keys_of_immediates() {
    assert_eq!(Value::NIL.shape_key(), ids::NIL_CLASS.0);
    assert_eq!(Value::TRUE.shape_key(), ids::TRUE_CLASS.0);
    assert_eq!(Value::FALSE.shape_key(), ids::FALSE_CLASS.0);
    assert_eq!(Value::fixnum(3).shape_key(), ids::INTEGER.0);
    assert_eq!(Value::sym(zakuro_base::sym::add).shape_key(), ids::SYMBOL.0);
}
