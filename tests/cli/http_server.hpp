// A server on the loopback for one test: what each path answers is a function of the request.
#pragma once

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <functional>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace llmcalc::test {

class HttpServer {
 public:
  /// Bytes to send back; empty closes the connection without an answer.
  using Answer = std::function<std::string(const std::string& request)>;

  /// \param pause  between two octets of an answer
  explicit HttpServer(Answer answer, std::chrono::milliseconds pause = {})
      : answer_(std::move(answer)), pause_(pause), socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(socket_, reinterpret_cast<sockaddr*>(&address), size);
    listen(socket_, 16);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer() {
    stops_ = true;
    shutdown(socket_, SHUT_RDWR);
    close(socket_);
    thread_.join();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  /// Read after the client is done.
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  void serve() {
    while (!stops_) {
      const int client = accept(socket_, nullptr, nullptr);
      if (client < 0) return;
      std::string request;
      char block[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const auto count = recv(client, block, sizeof block, 0);
        if (count <= 0) break;
        request.append(block, static_cast<std::size_t>(count));
      }
      requests_.push_back(request);
      const std::string response = answer_(request);
      for (std::size_t sent = 0; sent < response.size();) {
        const std::size_t all = response.size() - sent;
        const auto count = send(client, response.data() + sent, pause_.count() > 0 ? 1 : all, MSG_NOSIGNAL);
        if (count <= 0 || stops_) break;
        std::this_thread::sleep_for(pause_);
        sent += static_cast<std::size_t>(count);
      }
      close(client);
    }
  }

  Answer answer_;
  std::chrono::milliseconds pause_;
  int socket_;
  int port_ = 0;
  std::atomic<bool> stops_ = false;
  std::vector<std::string> requests_;
  std::thread thread_;
};

}  // namespace llmcalc::test
