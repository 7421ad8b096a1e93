"""Questions of competition grade for levels 7 to 10, one file for each family."""
