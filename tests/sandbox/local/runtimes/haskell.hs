import Control.Concurrent
import System.Directory (copyFile)
import System.Process (readProcess)

main :: IO ()
main = do
  done <- newEmptyMVar
  mapM_ (\i -> forkIO (threadDelay 1000 >> putMVar done i)) [1 .. 20 :: Int]
  total <- sum <$> mapM (const (takeMVar done)) [1 .. 20 :: Int]
  child <- readProcess "echo" ["child"] ""
  writeFile "one.txt" (show (length (show (product [1 .. 3000 :: Integer]))))
  copyFile "one.txt" "two.txt"
  putStrLn (if total == 210 && child == "child\n" then "done" else "wrong")
