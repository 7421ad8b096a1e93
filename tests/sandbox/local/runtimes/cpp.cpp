#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <thread>

int main() {
    std::thread([] {}).join();
    auto answer = std::async(std::launch::async, [] { return 6 * 7; }).get();
    std::ofstream("one.txt") << answer;
    std::filesystem::copy_file("one.txt", "two.txt");
    std::filesystem::rename("two.txt", "three.txt");
    if (std::filesystem::file_size("three.txt") != 2) return 1;
    std::cout << "done\n";
}
