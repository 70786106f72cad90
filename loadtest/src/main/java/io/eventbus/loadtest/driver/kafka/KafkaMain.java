package io.eventbus.loadtest.driver.kafka;

import kafka.Kafka;
import kafka.tools.StorageTool;

/** The process of a Kafka server: it formats the server's directory, and is the server then. */
final class KafkaMain {
  private KafkaMain() {}

  public static void main(String[] args) {
    String configuration = args[0];
    String cluster = args[1];
    int code =
        StorageTool.execute(
            new String[] {"format", "--cluster-id", cluster, "--config", configuration},
            System.out);
    if (code != 0) {
      System.exit(code);
    }
    Kafka.main(new String[] {configuration});
  }
}
