package io.eventbus.loadtest.attack.forked;

import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** The program at the other end of the control's socket. It ends when its input does. */
public final class ControlMain {
  static final String PORT = "control on ";
  private static final int OCTETS = 4_096;

  private ControlMain() {}

  /**
   * Sends back what comes in one connection.
   *
   * @throws Exception if it cannot
   */
  public static void main(String[] args) throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      System.out.println(PORT + server.getLocalPort());
      Thread end = new Thread(ControlMain::endWithInput, "end-with-input");
      end.setDaemon(true);
      end.start();
      try (Socket socket = server.accept()) {
        socket.setTcpNoDelay(true);
        InputStream in = socket.getInputStream();
        OutputStream out = socket.getOutputStream();
        byte[] octets = new byte[OCTETS];
        for (int n = in.read(octets); n >= 0; n = in.read(octets)) {
          out.write(octets, 0, n);
        }
      }
    }
  }

  private static void endWithInput() {
    try {
      while (System.in.read() >= 0) {
        // Nothing is said.
      }
    } catch (java.io.IOException e) {
      // The starter has gone.
    }
    System.exit(0);
  }
}
