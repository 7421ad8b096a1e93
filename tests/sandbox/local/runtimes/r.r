stopifnot(system("echo child", intern = TRUE) == "child")
stopifnot(sum(unlist(parallel::mclapply(1:2, function(i) i, mc.cores = 2))) == 3)
x <- 1:100
stopifnot(abs(coef(lm(2 * x ~ x))[2] - 2) < 1e-9, dim(solve(diag(50)))[1] == 50)
write.csv(data.frame(x), "one.csv")
stopifnot(nrow(read.csv("one.csv")) == 100)
cat("done\n")
