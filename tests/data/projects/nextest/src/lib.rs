//! Sample.

pub fn divide(a: i32, b: i32) -> i32 {
    a / b
}

pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        assert_eq!(divide(6, 3), 2);
    }

    #[test]
    fn adds() {
        println!("some output ]]> with <an> end \u{1b}[31mred\u{1b}[0m");
        assert_eq!(add(2, 2), 4, "two and two");
    }

    #[test]
    fn größe() {
        assert_eq!(add(1, 1), 2);
    }

    #[test]
    #[ignore = "slow"]
    fn slow() {}

    #[test]
    #[should_panic]
    fn panics_not() {
        divide(1, 1);
    }

    #[test]
    fn returns_error() -> Result<(), String> {
        Err("no such luck".into())
    }

    #[test]
    fn unwraps() {
        let number: i32 = "x".parse().unwrap();
        assert_eq!(number, 1);
    }

    #[test]
    fn exits() {
        std::process::exit(0);
    }

    #[test]
    fn aborts() {
        std::process::abort();
    }

    mod deeper {
        #[test]
        fn works() {}
    }
}
