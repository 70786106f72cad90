package io.eventbus.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ClientOptionsTest {
  private static ClientBuilder builder() {
    return EventBusClient.builder().url("ws://localhost:8080/bus");
  }

  @Test
  void defaultsAreWhatTheDocumentationSays() {
    ClientOptions options = builder().options();
    assertThat(options.outbound().bufferBytes()).isEqualTo(16 * 1024 * 1024);
    assertThat(options.outbound().whenFull()).isEqualTo(WhenFull.BLOCK);
    assertThat(options.outbound().batchBytes()).isEqualTo(64 * 1024);
    assertThat(options.outbound().confirmTimeout()).isEqualTo(Duration.ofSeconds(30));
    assertThat(options.connection().reconnect()).isEqualTo(ReconnectPolicy.DEFAULT);
    assertThat(options.connection().silenceTimeout()).isEqualTo(Duration.ofSeconds(40));
    assertThat(options.ackInterval()).isEqualTo(Duration.ofMillis(100));
    assertThat(options.trackedProducers()).isEqualTo(100_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"http://localhost/bus", "ws:///bus", "localhost:8080", "ws://localhost/bus#a"})
  void anAddressThatIsNoneIsRefusedByName(String url) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EventBusClient.builder().url(url).options())
        .withMessageContaining("url: " + url)
        .withMessageContaining("expected: ws://");
  }

  @Test
  void aClientNeedsAnAddress() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> EventBusClient.builder().options())
        .withMessage("urls: none (expected: at least one)");
  }

  @Test
  void aUserComesWithAPasswordThatIsNotPrinted() {
    ClientOptions options = builder().credentials("alice", "s3cret").options();
    assertThat(options.user()).isEqualTo("alice");
    assertThat(options.token()).isEqualTo("s3cret");
    assertThat(options.toString()).contains("user=alice").doesNotContain("s3cret");
    assertThat(builder().credentials("alice", "s3cret").token("t").options().user()).isNull();
    refused("user, bytes of UTF-8: 0 ", b -> b.credentials("", "s3cret"));
    refused("user, bytes of UTF-8: 256 ", b -> b.credentials("x".repeat(256), "s3cret"));
  }

  @Test
  void settingsOutOfRangeAreNamed() {
    refused("batchBytes: 1023 (expected: 1024..4194304)", b -> b.batchBytes(1023));
    refused("outboundBufferBytes: 1 ", b -> b.outboundBufferBytes(1));
    refused("connectTimeout: PT0S ", b -> b.connectTimeout(Duration.ZERO));
    refused("silenceTimeout: PT0.999S ", b -> b.silenceTimeout(Duration.ofMillis(999)));
    refused("silenceTimeout: PT1H1S ", b -> b.silenceTimeout(Duration.ofSeconds(3601)));
    refused("ackInterval: PT2M ", b -> b.ackInterval(Duration.ofMinutes(2)));
    refused("trackedProducers: 0 ", b -> b.trackedProducers(0));
    refused("name length: 0 ", b -> b.name(""));
    refused("blockTimeout: PT-1S ", b -> b.blockTimeout(Duration.ofSeconds(-1)));
  }

  private static void refused(String message, UnaryOperator<ClientBuilder> change) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> change.apply(builder()).options())
        .withMessageContaining(message);
  }

  @Test
  void noRecordShowsASecret() {
    List<String> withSecrets =
        new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("io.eventbus.client")
                .stream()
                .filter(JavaClass::isRecord)
                .filter(type -> type.getFields().stream().anyMatch(ClientOptionsTest::isSecret))
                .map(JavaClass::getSimpleName)
                .toList();
    // A new one has to be looked at here as well.
    assertThat(withSecrets).containsExactly("ClientOptions");
    assertThat(builder().token("s3cret").options().toString())
        .doesNotContain("s3cret")
        .contains("token=***")
        .contains("name=java-client");
    assertThat(builder().options().toString()).contains("token=none");
  }

  private static boolean isSecret(JavaField field) {
    String name = field.getName().toLowerCase(Locale.ROOT);
    return Stream.of("token", "secret", "resume", "password").anyMatch(name::contains);
  }

  @Test
  void subscribeOptionsAreChecked() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> SubscribeOptions.DEFAULT.withBufferBytes(10))
        .withMessage("bufferBytes: 10 (expected: 1024..1073741824)");
    assertThatIllegalArgumentException().isThrownBy(() -> SubscribeOptions.DEFAULT.withGroup(""));
  }

  @Test
  void theDelayGrowsUpToTheMaximumAndJitterOnlyShortensIt() {
    ReconnectPolicy policy =
        new ReconnectPolicy(Duration.ofMillis(100), Duration.ofSeconds(1), 2, 0.5, 10);
    assertThat(policy.delay(1, 0)).isEqualTo(Duration.ofMillis(100));
    assertThat(policy.delay(2, 0)).isEqualTo(Duration.ofMillis(200));
    assertThat(policy.delay(4, 0)).isEqualTo(Duration.ofMillis(800));
    assertThat(policy.delay(5, 0)).isEqualTo(Duration.ofSeconds(1));
    assertThat(policy.delay(1_000_000, 0)).isEqualTo(Duration.ofSeconds(1));
    assertThat(policy.delay(5, 0.999)).isBetween(Duration.ofMillis(500), Duration.ofMillis(501));
  }

  @Test
  void onlyTheTransitionsInTheTableAreLegal() {
    assertThat(ClientState.NEW.mayBecome(ClientState.CONNECTING)).isTrue();
    assertThat(ClientState.NEW.mayBecome(ClientState.CONNECTED)).isFalse();
    assertThat(ClientState.CONNECTING.mayBecome(ClientState.RECONNECTING)).isFalse();
    assertThat(ClientState.DRAINING.mayBecome(ClientState.CONNECTED)).isFalse();
    for (ClientState next : ClientState.values()) {
      assertThat(ClientState.CLOSED.mayBecome(next)).isFalse();
      assertThat(next.mayBecome(ClientState.CLOSED)).isEqualTo(next != ClientState.CLOSED);
    }
  }
}
