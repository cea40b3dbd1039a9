"""``python -m analysis.bayes.warm``: compile the densities once, so that the first report does not wait for it."""

from analysis.bayes.fit import warm

if __name__ == "__main__":
    warm()
