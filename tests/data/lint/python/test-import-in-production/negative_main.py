def total(items):
    return sum(items)


if __name__ == "__main__":
    from unittest import main

    main("tests.test_total")
