import unittest_like


class Result(unittest_like.Result):
    def startTest(self, test):
        return test

    def stopTest(self, test):
        return test

    def addSuccess(self, test):
        return test


def read_all(path):
    return path


def write_all(path):
    return path
