# Trains a private model from R over the command line: Rscript examples/r/patients.R
#
# It needs R alone and the program pawl on the PATH (or PAWL_BINARY). Rows travel by a pipe and are written to no file.
# The data set is a table of made-up patients with a ledger in a temporary folder; leave --ledger out for your own.

pawl <- Sys.getenv("PAWL_BINARY", "pawl")
folder <- tempfile("pawl-"); dir.create(folder)

set.seed(1)
n <- 2000
patients <- data.frame(age = sample(20:89, n, TRUE), ward = sample(c("A", "B", "C"), n, TRUE), smokes = runif(n) < 0.3)
patients$ill <- patients$age + 40 * patients$smokes + rnorm(n, 0, 10) > 70

# What is public about the columns, never what the rows show.
schema <- file.path(folder, "schema.yaml")
writeLines(c(
  "version: 1", "dataset: patients", "unit: row", "rows: about 2000", "columns:",
  "  - {name: age, type: integer, lower: 0, upper: 120}",
  "  - {name: ward, type: categorical, categories: [A, B, C]}",
  "  - {name: smokes, type: boolean}",
  "  - {name: ill, type: boolean}"), schema)

# Runs pawl on the rows of a frame and returns what it prints. A failed job ends the script with its message.
run <- function(rows, ...) {
  printed <- tempfile(tmpdir = folder)
  to <- pipe(paste(c(shQuote(pawl), shQuote(c(...)), ">", shQuote(printed)), collapse = " "), "w")
  write.csv(rows, to, row.names = FALSE, na = "")
  status <- close(to)
  if (!is.null(status) && status != 0) stop("pawl failed: see its message above", call. = FALSE)
  readLines(printed)
}

out <- file.path(folder, "out")
ledger <- paste0("sqlite:", file.path(folder, "ledger.db"))
cat(run(patients, "fit", "-", "--schema", schema, "--target", "ill", "--epsilon", "1", "--delta", "1e-6", "--out", out, "--ledger", ledger), sep = "\n")

predictions <- read.csv(text = run(head(patients), "predict", out, "-"))
print(cbind(head(patients), predictions))
unlink(folder, recursive = TRUE)
