package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.eventbus.server.BusServer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Public conformance suite for WebSocket; {@link EchoIT} has its most telling cases. */
@Tag("nightly")
@Timeout(value = 70, unit = TimeUnit.MINUTES)
class AutobahnIT {
  private static final int LEFT_OUT = 77;

  private static final String[] ECHO = {
    "diagnostics.echo-path", "/echo",
    "diagnostics.echo-message-bytes", "17MiB",
    "limits.memory-bytes", "512MiB",
    "timeouts.upgrade", "30s",
    "compression.enabled", "true",
    "compression.min-bytes", "0"
  };

  private static String[] settings(String... more) {
    List<String> all = new ArrayList<>(List.of(ECHO));
    all.addAll(List.of(more));
    return all.toArray(new String[0]);
  }

  @Test
  void theSuitePassesWithAndWithoutTls(@TempDir Path directory) throws Exception {
    try (TestCertificate certificate = TestCertificate.make();
        BusServer plain = TestBus.start(settings());
        BusServer encrypted =
            TestBus.start(
                settings(
                    "tls.certificate", certificate.certificatePem().toString(),
                    "tls.key", certificate.keyPem().toString()))) {
      Foreign.Ended ended =
          Foreign.run(
              List.of(
                  Path.of("../conformance/autobahn.sh").toRealPath().toString(),
                  "ws://127.0.0.1:" + plain.port() + "/echo",
                  "wss://127.0.0.1:" + encrypted.port() + "/echo"),
              directory,
              65);
      assumeTrue(ended.code() != LEFT_OUT, ended.output());
      assertThat(ended.code()).as(ended.output()).isZero();
    }
  }
}
