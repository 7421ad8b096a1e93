program main
  implicit none
  integer :: status
  real :: square(50, 50)
  call random_number(square)
  open (unit=10, file="one.txt")
  write (10, *) sum(matmul(square, square))
  close (10)
  call execute_command_line("true", exitstat=status)
  if (status /= 0) stop 1
  print '(a)', "done"
end program
