"""Working days."""

import datetime

ONE = datetime.timedelta(days=1)


def is_working_day(day):
    return day.weekday() < 5


def add_working_days(day, count):
    """The working day so many working days later."""
    while count > 0:
        day += ONE
        if is_working_day(day):
            count -= 1
    return day


def working_days_between(first, last):
    """Working days from the first day to the last, both included."""
    count = 0
    day = first
    while day < last:
        if is_working_day(day):
            count += 1
        day += ONE
    return count


def quarter(day):
    return (day.month - 1) // 3 + 1
