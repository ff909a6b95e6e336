"""meguri simulate from outside: what it prints, and the sentences of wrong use."""

import gzip
import json
import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools"))
import testing

BINARIES = os.environ.get("MEGURI_BINARY_DIR", os.path.join(testing.ROOT, "build/release"))
MEGURI = os.path.join(BINARIES, "meguri")


def simulate(*arguments):
    return testing.run([MEGURI, "simulate", *arguments])


def result(*arguments):
    done = simulate(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Simulate(testing.TestCase):
    def test_policies_stand_as_expected(self):
        every = result("--policy", "all", "--pages", "1000", "--days", "200")
        recall = {row["policy"]: row["recall_vs_oracle"] for row in every["policies"]}
        self.assertEqual(recall["oracle"], 1)
        self.assertGreater(recall["paper"], 0.9)
        self.assertGreater(recall["paper"], recall["nutch"])
        self.assertGreater(recall["nutch"], recall["uniform"])
        for row in every["policies"]:
            with self.subTest(row["policy"]):
                for name in ("recall", "coverage", "waste", "error_share"):
                    self.assertTrue(0 < row[name] < 1, name)
                self.assertTrue(0.3 < row["budget_used"] < 1.01)
                self.assertGreater(row["error_mean_seconds"], 0)

    def test_one_policy_is_one_object(self):
        paper = result("--pages", "300", "--days", "60", "--budget", "2", "--min-interval", "1d")
        self.assertEqual(
            (paper["policy"], paper["pages"], paper["days"], paper["budget"], paper["x"]),
            ("paper", 300, 60, 2, 0.5),
        )
        self.assertEqual(paper["min_interval_seconds"], 86400)
        self.assertEqual(paper["recall"], paper["captured"] / paper["versions"])
        again = result("--pages", "300", "--days", "60", "--budget", "2", "--min-interval", "1d")
        self.assertEqual(paper, again)
        other = result("--pages", "300", "--days", "60", "--seed", "2")
        self.assertNotEqual(paper["versions"], other["versions"])

    def test_where_a_rule_begins_matters(self):
        arguments = ("--policy", "nutch", "--pages", "300", "--days", "100")
        late = result(*arguments, "--first-interval", "30d")
        early = result(*arguments, "--first-interval", "3d")
        self.assertGreater(early["recall"], 1.5 * late["recall"])

    def test_a_trace_is_lived_through(self):
        day = 86400
        lines = "".join(
            f"page{i}\t" + " ".join(str(t * day) for t in range(100 + i, 400, i + 1)) + "\n"
            for i in range(20)
        )
        path = os.path.join(self.folder, "trace.tsv.gz")
        with gzip.open(path, "wt", encoding="ascii") as file:
            file.write(lines)
        paper = result("--trace", path)
        self.assertEqual(paper["pages"], 20)
        self.assertEqual(paper["versions"], lines.count(" "))
        self.assertTrue(0.2 < paper["recall"] < 1)
        short = result("--trace", path, "--days", "100", "--pages", "10")
        self.assertEqual((short["pages"], short["days"]), (10, 100))

    def test_text_is_for_people(self):
        done = simulate("--pages", "100", "--days", "30")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"^100 pages over 30 days: ")
        self.assertRegex(done.stdout, r"\npaper +0\.\d{4} ")

    def test_wrong_use_is_one_sentence(self):
        for arguments, sentence in (
            (["--policy", "papre"], "did you mean 'paper'?"),
            (["--pages", "0"], "--pages takes"),
            (["--pages", "1G"], "do not fit in memory"),
            (["--days", "0"], "--days takes"),
            (["--days", "nan"], "--days takes"),
            (["--budget", "0"], "--budget takes"),
            (["--min-interval", "soon"], "--min-interval takes"),
            (["--min-interval", "0"], "shortest interval"),
            (["--min-interval", "500d"], "shortest interval"),
        ):
            with self.subTest(arguments):
                self.assert_says_one_sentence(simulate(*arguments), 2, sentence)
        missing = os.path.join(self.folder, "missing")
        self.assert_says_one_sentence(simulate("--trace", missing), 1, missing)


if __name__ == "__main__":
    unittest.main()
