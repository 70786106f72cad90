package io.eventbus.loadtest.driver.tyruspaper;

import jakarta.websocket.DeploymentException;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.glassfish.tyrus.server.Server;

/** The process of the paper's bus: Tyrus on Grizzly, on a free port, until it is ended. */
final class PaperServer {
  static final String READY = "listening on port ";

  private PaperServer() {}

  public static void main(String[] args) throws DeploymentException, InterruptedException {
    Server server = new Server("127.0.0.1", -1, "/", Map.of(), PaperEndpoint.class);
    server.start();
    System.out.println(READY + server.getPort());
    new CountDownLatch(1).await();
  }
}
