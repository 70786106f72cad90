package io.eventbus.loadtest.driver.mqtt;

import java.util.concurrent.CountDownLatch;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;

/** The process of the Artemis broker, in memory, until it is ended. */
final class ArtemisServer {
  static final String READY = "artemis is ready";

  private ArtemisServer() {}

  public static void main(String[] args) throws Exception {
    Configuration configuration =
        new ConfigurationImpl()
            .setPersistenceEnabled(false)
            .setSecurityEnabled(false)
            .setJMXManagementEnabled(false)
            // An acceptor takes WebSocket on the same port.
            .addAcceptorConfiguration(
                "mqtt", "tcp://127.0.0.1:" + Integer.parseInt(args[0]) + "?protocols=MQTT");
    EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
    broker.setConfiguration(configuration);
    broker.start();
    System.out.println(READY);
    new CountDownLatch(1).await();
  }
}
