import datetime
import unittest

from shop import dates

MONDAY = datetime.date(2024, 5, 6)


class DatesTest(unittest.TestCase):
    def test_weekends_are_no_working_days(self):
        self.assertFalse(dates.is_working_day(datetime.date(2024, 5, 4)))

    def test_working_days_skip_weekends(self):
        friday = datetime.date(2024, 5, 3)
        self.assertEqual(dates.add_working_days(friday, 1), MONDAY)

    def test_five_working_days_are_a_week(self):
        self.assertEqual(dates.add_working_days(MONDAY, 5), datetime.date(2024, 5, 13))

    def test_a_week_has_five_working_days(self):
        self.assertEqual(dates.working_days_between(MONDAY, datetime.date(2024, 5, 12)), 5)

    def test_a_single_day_counts(self):
        self.assertEqual(dates.working_days_between(MONDAY, MONDAY), 1)

    def test_quarters(self):
        self.assertEqual([dates.quarter(datetime.date(2024, m, 1)) for m in (1, 3, 4, 12)], [1, 1, 2, 4])
