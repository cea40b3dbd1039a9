# Numbers of R for the tables in inputs/, written to r_numbers.csv and, with the versions used, to r_versions.csv.
#
#   Rscript tests/reference/make_reference.R
#
# Needs the Debian packages r-base-core, r-cran-coin, r-cran-geepack, r-cran-clubsandwich, r-cran-boot, r-cran-lme4.
# kind: exact (the same number is expected), simulated (error: Monte-Carlo standard error of R's value), loose
# (another method that answers nearly the same question).

suppressPackageStartupMessages({
  library(coin); library(geepack); library(clubSandwich); library(boot); library(lme4)
})
arguments <- commandArgs(trailingOnly = FALSE)
here <- dirname(sub("^--file=", "", grep("^--file=", arguments, value = TRUE)[1]))
input <- function(name) read.csv(file.path(here, "inputs", paste0(name, ".csv")))
numbers <- list()
note <- function(test, quantity, value, source, kind = "exact", error = NA) {
  numbers[[length(numbers) + 1]] <<- data.frame(
    test = test, quantity = quantity, value = format(as.numeric(value), digits = 16), kind = kind,
    error = ifelse(is.na(error), "", format(error, digits = 3)), source = source)
}
binomial_error <- function(p, n) sqrt(p * (1 - p) / n)
set.seed(20260801)
DRAWS <- 200000

# McNemar, conditional odds ratio, score interval -------------------------------------------------------------------
pairs <- input("pairs")
b <- sum(pairs$first == 1 & pairs$second == 0)
c <- sum(pairs$first == 0 & pairs$second == 1)
counts <- table(factor(pairs$first, 0:1), factor(pairs$second, 0:1))
plain <- mcnemar.test(counts, correct = FALSE)
note("mcnemar", "statistic", plain$statistic, "stats::mcnemar.test")
note("mcnemar", "p_chi2", plain$p.value, "stats::mcnemar.test")
corrected <- mcnemar.test(counts, correct = TRUE)
note("mcnemar", "statistic_corrected", corrected$statistic, "stats::mcnemar.test")
note("mcnemar", "p_corrected", corrected$p.value, "stats::mcnemar.test")
side <- factor(rep(c("first", "second"), each = nrow(pairs)))
long <- data.frame(unit = factor(rep(pairs$unit, 2)), side = side, right = factor(c(pairs$first, pairs$second)))
note("mcnemar", "p_exact", pvalue(mh_test(right ~ side | unit, data = long, distribution = exact())), "coin::mh_test")
note("mcnemar", "p_mid", midpvalue(mh_test(right ~ side | unit, data = long, distribution = exact())), "coin::mh_test")
limits <- binom.test(b, b + c)$conf.int
note("odds ratio", "ci_low", limits[1] / (1 - limits[1]), "stats::binom.test")
note("odds ratio", "ci_high", limits[2] / (1 - limits[2]), "stats::binom.test")
score <- prop.test(sum(pairs$first), nrow(pairs), correct = FALSE)$conf.int
note("wilson", "ci_low", score[1], "stats::prop.test")
note("wilson", "ci_high", score[2], "stats::prop.test")

# Levels of a factor ------------------------------------------------------------------------------------------------
answers <- input("answers")
answers <- transform(answers, unit = factor(unit), level = factor(level))
q <- mh_test(factor(right) ~ level | unit, data = answers)
note("cochran q", "statistic", statistic(q), "coin::mh_test")
note("cochran q", "p_value", pvalue(q), "coin::mh_test")
p <- pvalue(symmetry_test(right ~ level | unit, data = answers, teststat = "quadratic",
                          distribution = approximate(nresample = DRAWS)))
note("cochran q", "p_permutation", p, "coin::symmetry_test", "simulated", binomial_error(p, DRAWS))
blocks <- input("blocks")
stacked <- data.frame(unit = factor(rep(blocks$unit, 3)), level = factor(rep(c("a", "b", "c"), each = nrow(blocks))),
                      value = c(blocks$a, blocks$b, blocks$c))
p <- pvalue(symmetry_test(value ~ level | unit, data = stacked, teststat = "quadratic",
                          distribution = approximate(nresample = DRAWS)))
note("levels within units", "p_q", p, "coin::symmetry_test", "simulated", binomial_error(p, DRAWS))
shift <- lm(cbind(b - a, c - a) ~ 1, data = blocks)
joint <- anova(shift, test = "Hotelling-Lawley")
note("hotelling", "statistic", joint["(Intercept)", "approx F"], "stats::anova.mlm")
note("hotelling", "df", joint["(Intercept)", "num Df"], "stats::anova.mlm")
note("hotelling", "df_error", joint["(Intercept)", "den Df"], "stats::anova.mlm")
note("hotelling", "p_value", joint["(Intercept)", "Pr(>F)"], "stats::anova.mlm")
groups <- transform(input("groups"), level = factor(level))
unequal <- oneway.test(value ~ level, data = groups, var.equal = FALSE)
note("welch", "statistic", unequal$statistic, "stats::oneway.test")
note("welch", "df_error", unequal$parameter[2], "stats::oneway.test")
note("welch", "p_value", unequal$p.value, "stats::oneway.test")
p <- pvalue(oneway_test(value ~ level, data = groups, teststat = "quadratic",
                        distribution = approximate(nresample = DRAWS)))
note("levels between units", "p_q", p, "coin::oneway_test", "simulated", binomial_error(p, DRAWS))

# Conditions: Friedman, Nemenyi -------------------------------------------------------------------------------------
wide <- as.matrix(input("conditions")[, c("a", "b", "c")])
ranked <- friedman.test(wide)
note("friedman", "statistic", ranked$statistic, "stats::friedman.test")
note("friedman", "p_chi2", ranked$p.value, "stats::friedman.test")
stacked <- data.frame(unit = factor(rep(seq_len(nrow(wide)), 3)), level = factor(rep(colnames(wide), each = nrow(wide))),
                      value = as.vector(wide))
p <- pvalue(friedman_test(value ~ level | unit, data = stacked, distribution = approximate(nresample = DRAWS)))
note("friedman", "p_value", p, "coin::friedman_test", "simulated", binomial_error(p, DRAWS))
means <- colMeans(t(apply(wide, 1, rank)))
error <- sqrt(3 * 4 / (12 * nrow(wide)))
for (pair in list(c(1, 2), c(1, 3), c(2, 3))) {
  apart <- abs(diff(means[pair])) / error
  note("nemenyi", paste(pair, collapse = "-"), ptukey(apart, 3, Inf, lower.tail = FALSE), "stats::ptukey")
}
note("nemenyi", "critical_difference", qtukey(0.95, 3, Inf) * error, "stats::qtukey", "rounded", 1e-4)
for (k in c(2, 3, 5, 11, 29)) {
  note("studentised range", paste0("P(W <= 3), k = ", k), ptukey(3, k, Inf), "stats::ptukey", "rounded", 1e-8)
  note("studentised range", paste0("95 %, k = ", k), qtukey(0.95, k, Inf), "stats::qtukey", "rounded", 1e-4)
}

# Differences: signed ranks, sign flips, t, TOST --------------------------------------------------------------------
d <- input("differences")$d
zero <- rep(0, length(d))
note("signed ranks", "p_value", pvalue(wilcoxsign_test(d ~ zero, distribution = exact(), zero.method = "Wilcoxon")),
     "coin::wilcoxsign_test")
moved <- d[d != 0]
note("signed ranks", "statistic", wilcox.test(moved, exact = FALSE)$statistic, "stats::wilcox.test")
sided <- data.frame(unit = factor(rep(seq_along(d), 2)), side = factor(rep(c("first", "second"), each = length(d))),
                    value = c(d, zero))
note("sign flips", "p_value", pvalue(symmetry_test(value ~ side | unit, data = sided, distribution = exact())),
     "coin::symmetry_test")
h <- d / 100
note("t", "p_value", t.test(h)$p.value, "stats::t.test")
above <- t.test(h, mu = -0.03, alternative = "greater")$p.value
below <- t.test(h, mu = 0.03, alternative = "less")$p.value
note("tost", "p_value", max(above, below), "stats::t.test")
note("tost", "ci_low", t.test(h, conf.level = 0.9)$conf.int[1], "stats::t.test")
note("tost", "ci_high", t.test(h, conf.level = 0.9)$conf.int[2], "stats::t.test")

# Clustered rates: CR2 with Satterthwaite, CR0, GEE -----------------------------------------------------------------
rows <- transform(input("rows"), cell = factor(cell))
rows <- rows[order(rows$unit), ]
fitted <- lm(right ~ 0 + cell, data = rows)
cr2 <- vcovCR(fitted, cluster = rows$unit, type = "CR2")
for (i in 1:4) for (j in i:4) note("clustered rates", paste0("CR2 ", i, j), cr2[i, j], "clubSandwich::vcovCR")
contrasts <- rbind(bias = c(1, -1, -1, 1) / 2, polarity = c(1, -1, 1, -1) / 2, accuracy = rep(1, 4) / 4)
tested <- linear_contrast(fitted, vcov = cr2, contrasts = contrasts, test = "Satterthwaite")
for (i in seq_len(nrow(contrasts))) {
  name <- rownames(contrasts)[i]
  note("clustered rates", paste(name, "std_error"), tested$SE[i], "clubSandwich::linear_contrast")
  note("clustered rates", paste(name, "df"), tested$df[i], "clubSandwich::linear_contrast")
}
gee <- geeglm(right ~ 0 + cell, id = unit, data = rows, family = binomial, corstr = "independence")
rate <- plogis(coef(gee))
note_vcov <- vcov(gee) * outer(rate * (1 - rate), rate * (1 - rate))
for (i in 1:4) {
  note("clustered rates", paste0("rate ", i), rate[i], "geepack::geeglm")
  for (j in i:4) note("clustered rates", paste0("CR0 ", i, j), note_vcov[i, j], "geepack::geeglm")
}
matched <- input("matched")
change <- lm(I(first - second) ~ 1, data = matched)
paired <- coef_test(change, vcov = vcovCR(change, cluster = matched$unit, type = "CR2"), test = "Satterthwaite")
note("paired difference", "estimate", paired[1, "beta"], "clubSandwich::coef_test")
note("paired difference", "std_error", paired[1, "SE"], "clubSandwich::coef_test")
note("paired difference", "df", paired[1, grep("^df", names(paired))], "clubSandwich::coef_test")
note("paired difference", "p_value", paired[1, grep("^p_", names(paired))], "clubSandwich::coef_test")

# Bootstrap over units ----------------------------------------------------------------------------------------------
parts <- aggregate(cbind(n = 1, first, second) ~ unit, data = cbind(matched), FUN = sum)
change_of <- function(table, index) {
  drawn <- table[index, ]
  n <- sum(drawn$n)
  r <- sum(drawn$first - drawn$second) / n
  g <- nrow(drawn)
  off <- (drawn$first - drawn$second) - r * drawn$n
  c(r, g / (g - 1) * sum(off^2) / n^2)
}
drawn <- boot(parts, change_of, R = DRAWS)
found <- boot.ci(drawn, type = c("perc", "stud", "bca"), var.t0 = drawn$t0[2], var.t = drawn$t[, 2])
density_at <- function(values, at) approx(density(values), xout = at)$y
quantile_error <- function(at) sqrt(0.025 * 0.975 / DRAWS) / density_at(drawn$t[, 1], at)
ends <- c("ci_low", "ci_high")
for (i in 1:2) {
  at <- found$percent[3 + i]
  note("bootstrap", paste("percentile", ends[i]), at, "boot::boot.ci", "simulated", quantile_error(at))
  at <- found$student[3 + i]
  t <- (drawn$t[, 1] - drawn$t0[1]) / sqrt(drawn$t[, 2])
  t <- t[is.finite(t)]
  error <- sqrt(0.025 * 0.975 / DRAWS) / density_at(t, quantile(t, c(0.975, 0.025)[i])) * sqrt(drawn$t0[2])
  note("bootstrap", paste("studentised", ends[i]), at, "boot::boot.ci", "simulated", error)
  note("bootstrap", paste("BCa", ends[i]), found$bca[3 + i], "boot::boot.ci", "loose")
}

# Correlations ------------------------------------------------------------------------------------------------------
models <- input("models")
for (kind in c("pearson", "spearman", "kendall")) {
  found <- cor.test(models$x, models$y, method = kind, exact = if (kind == "pearson") NULL else TRUE)
  note(paste("correlation", kind), "estimate", found$estimate, "stats::cor.test")
  if (kind == "pearson") {
    note("correlation pearson", "ci_low", found$conf.int[1], "stats::cor.test")
    note("correlation pearson", "ci_high", found$conf.int[2], "stats::cor.test")
    p <- pvalue(independence_test(y ~ x, data = models, distribution = approximate(nresample = DRAWS)))
    note("correlation pearson", "p_value", p, "coin::independence_test", "simulated", binomial_error(p, DRAWS))
  } else {
    note(paste("correlation", kind), "p_value", found$p.value, "stats::cor.test")
  }
}
note("correlation kendall, ties", "estimate", cor(models$x, models$z, method = "kendall"), "stats::cor")
note("correlation spearman, ties", "estimate", cor(models$x, models$z, method = "spearman"), "stats::cor")
p <- pvalue(spearman_test(z ~ x, data = models, distribution = approximate(nresample = DRAWS)))
note("correlation spearman, ties", "p_value", p, "coin::spearman_test", "simulated", binomial_error(p, DRAWS))

# Adjustments -------------------------------------------------------------------------------------------------------
p <- input("p_values")$p
for (method in c("holm", "bonferroni", "BH")) {
  adjusted <- p.adjust(p, method)
  for (i in seq_along(p)) note(paste("adjusted by", method), i, adjusted[i], "stats::p.adjust")
}

# Random intercept of units: the loose companion of the hierarchical models ------------------------------------------
mixed <- glmer(right ~ 0 + cell + (1 | unit), data = rows, family = binomial, nAGQ = 25)
note("random intercept", "sd", sqrt(VarCorr(mixed)$unit[1]), "lme4::glmer", "loose")
for (i in 1:4) note("random intercept", paste0("log odds ", i), fixef(mixed)[i], "lme4::glmer", "loose")

table <- do.call(rbind, numbers)
table$value <- trimws(table$value)
write.csv(table, file.path(here, "r_numbers.csv"), row.names = FALSE, quote = TRUE)
used <- c("coin", "geepack", "clubSandwich", "boot", "lme4")
versions <- data.frame(package = c("R", used),
                       version = c(as.character(getRversion()), sapply(used, function(p) as.character(packageVersion(p)))))
write.csv(versions, file.path(here, "r_versions.csv"), row.names = FALSE)
cat(nrow(table), "numbers\n")
