use super::crypt;
use zakuro_base::progress::to_the_end;

fn hash(password: &str, setting: &str) -> Option<String> {
    to_the_end(|p| crypt(password.as_bytes(), setting.as_bytes(), p)).map(|b| String::from_utf8(b).unwrap())
}

// Results of the C library's crypt(3).
#[test]
fn as_the_c_library() {
    for expected in [
        ("nutmeg", "MiqkFWCm1fNJI"),
        ("", "aaQSqAReePlq6"),
        ("a", "..4/MD05HLWjI"),
        ("é", "abclsH8ttXiZ6"),
        ("a", "$1$abcdefgh$jUYc1Xi7pkozuzWQ0Dft71"),
        ("a", "$1$$Ij31LCAysPM23KuPlm1wA/"),
        ("a", "$5$$QG6CCM7eJAxpUPcBpn0Z2K29NHtaI6Mk1fCpPrpjdj3"),
        ("a", "$5$rounds=1000$abcdefghijklmnop$Z7B24mb7G0UGbrVQx5XsOSvQGEPLZct8F32pHM2IdVA"),
        ("a", "$6$abc$nlhAD6nGlGRMDj1Sphvkk9r/6E8dgKu7aqKErMwZ3U3A1onV461eE5jl9tfrBIm/M2o5cPL52lhAdhLA0OvUD/"),
    ] {
        assert_eq!(hash(expected.0, expected.1).as_deref(), Some(expected.1));
    }
    assert_eq!(hash(&"x".repeat(300), "$5$abc").as_deref(), Some("$5$abc$L98BKd4e0Labzko8gkv351QLHuXa4r4pPzJ0AHT23gD"));
}

#[test]
fn malformed() {
    for setting in
        ["", "a", "a!", "*0", "$9$x", "$5", "$5$a:b", "$5$rounds=10$a", "$5$rounds=01000$a", "$5$rounds=+1000$a", "$5$rounds=1000", "$6$é"]
    {
        assert_eq!(hash("a", setting), None, "{setting}");
    }
}
