package io.eventbus.loadtest.faults.buses;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.eventbus.loadtest.driver.JavaCommand;
import io.eventbus.loadtest.driver.ServerProcess;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Network of buses, with a process that passes on datagrams in the place of each bus. */
@Timeout(300)
class BusNetworkSystemIT {
  private static final int PORT = 9_000;

  /** Enough for a machine that is busy; only a fault waits for all of them. */
  private static final int PATIENT = 300;

  private static final int ATTEMPT_MILLIS = 200;
  private int asked;

  /** Node that sends a question to another one, which answers whoever asked. */
  static final class Node {
    private Node() {}

    public static void main(String[] arguments) throws IOException {
      InetAddress host = InetAddress.getByName(arguments[0]);
      try (DatagramSocket socket = new DatagramSocket(PORT, host)) {
        while (true) {
          DatagramPacket packet = new DatagramPacket(new byte[512], 512);
          socket.receive(packet);
          String[] words = text(packet).split(" ", 4);
          if (words[0].equals("pass")) {
            String sender = packet.getAddress().getHostAddress() + " " + packet.getPort();
            send(socket, "answer " + words[2] + " " + sender, words[1], PORT);
          } else {
            send(socket, words[1], words[2], Integer.parseInt(words[3]));
          }
        }
      }
    }
  }

  private static String text(DatagramPacket packet) {
    return new String(packet.getData(), 0, packet.getLength(), StandardCharsets.US_ASCII);
  }

  private static void send(DatagramSocket socket, String text, String host, int port)
      throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    socket.send(new DatagramPacket(bytes, bytes.length, new InetSocketAddress(host, port)));
  }

  private boolean passes(BusNetwork network, int from, int to, int attempts) throws IOException {
    try (DatagramSocket socket = new DatagramSocket()) {
      socket.setSoTimeout(ATTEMPT_MILLIS);
      for (int i = 0; i < attempts; i++) {
        send(socket, "pass " + network.host(to) + " " + ++asked, network.host(from), PORT);
        DatagramPacket packet = new DatagramPacket(new byte[512], 512);
        try {
          socket.receive(packet);
          return true;
        } catch (SocketTimeoutException e) {
          // Lost, or the node is not there yet.
        }
      }
      return false;
    }
  }

  @Test
  void oneDirectionIsCutAndHealed() throws IOException {
    assumeTrue(BusNetwork.lacks().isEmpty(), BusNetwork.lacks());
    List<ServerProcess> nodes = new ArrayList<>();
    try (BusNetwork network = BusNetwork.create(2)) {
      for (int i = 0; i < 2; i++) {
        List<String> command = new ArrayList<>(network.prefix(i));
        command.addAll(JavaCommand.of(List.of(), Node.class.getName(), List.of(network.host(i))));
        nodes.add(ServerProcess.start("node-" + i, command, Map.of()));
      }
      assertThat(passes(network, 0, 1, PATIENT)).isTrue();
      assertThat(passes(network, 1, 0, PATIENT)).isTrue();
      network.cut(0, 1);
      assertThat(passes(network, 0, 1, 5)).isFalse();
      assertThat(passes(network, 1, 0, PATIENT)).as("the other direction").isTrue();
      network.heal();
      assertThat(passes(network, 0, 1, PATIENT)).isTrue();
    } finally {
      nodes.forEach(ServerProcess::close);
    }
  }
}
