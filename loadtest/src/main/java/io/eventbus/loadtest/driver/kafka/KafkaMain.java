package io.eventbus.loadtest.driver.kafka;

import kafka.Kafka;
import kafka.tools.StorageTool;

/** Main class of a Kafka server: formats the server's directory first. */
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
