package io.eventbus.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CloudEventsTest {
  private static final CloudEvents.Attributes FULL =
      new CloudEvents.Attributes(
          "A-1",
          "/orders",
          "order.placed",
          "order 7: 100 % \"äö€\"",
          Instant.parse("2026-01-02T03:04:05.5Z"),
          "application/json",
          "https://example.com/order.json",
          Map.of("traceparent", "00-ab"));

  @Test
  void attributesAreHeadersAndTheDataThePayload() {
    Event event = CloudEvents.toEvent(FULL, new byte[] {1, 2}).build();
    assertThat(event.payload()).containsExactly(1, 2);
    assertThat(event.headers())
        .containsEntry("ce-specversion", "1.0")
        .containsEntry("ce-id", "A-1")
        .containsEntry("ce-time", "2026-01-02T03:04:05.500Z")
        .containsEntry("ce-subject", "order%207:%20100%20%25%20%22%C3%A4%C3%B6%E2%82%AC%22")
        .containsEntry("content-type", "application/json")
        .containsEntry("ce-traceparent", "00-ab")
        .hasSize(9);
    assertThat(CloudEvents.fromHeaders(event.headers())).contains(FULL);
  }

  @Test
  void onlyWhatIsNeededIsEnough() {
    CloudEvents.Attributes few = CloudEvents.Attributes.of("1", "/s", "t");
    Event event = CloudEvents.toEvent(few, new byte[0]).build();
    assertThat(event.headers()).hasSize(4);
    assertThat(CloudEvents.fromHeaders(event.headers())).contains(few);
  }

  @Test
  void otherEventsHoldNone() {
    assertThat(CloudEvents.fromHeaders(Map.of("content-type", "text/plain"))).isEmpty();
  }

  @Test
  void refusesIllegalAttributes() {
    refused(Map.of("ce-specversion", "0.3"), "ce-specversion: 0.3");
    refused(Map.of("ce-specversion", "1.0", "ce-id", "1", "ce-source", "s"), "ce-type: missing");
    refused(Map.of("ce-specversion", "1.0", "ce-id", "%FF"), "ce-id: no UTF-8");
    refused(
        Map.of(
            "ce-specversion",
            "1.0",
            "ce-id",
            "1",
            "ce-source",
            "s",
            "ce-type",
            "t",
            "ce-time",
            "now"),
        "ce-time: now");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CloudEvents.Attributes.of("", "/s", "t"))
        .withMessageContaining("id: empty");
    for (String name : new String[] {"Upper", "data", "id", ""}) {
      assertThatIllegalArgumentException()
          .as(name)
          .isThrownBy(
              () ->
                  new CloudEvents.Attributes(
                      "1", "/s", "t", null, null, null, null, Map.of(name, "x")));
    }
  }

  private static void refused(Map<String, String> headers, String why) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> CloudEvents.fromHeaders(headers))
        .withMessageContaining(why);
  }

  @Test
  void aPercentThatEncodesNothingStays() {
    assertThat(
            CloudEvents.fromHeaders(
                    Map.of(
                        "ce-specversion",
                        "1.0",
                        "ce-id",
                        "5%",
                        "ce-source",
                        "a%zz",
                        "ce-type",
                        "%41"))
                .orElseThrow())
        .isEqualTo(CloudEvents.Attributes.of("5%", "a%zz", "A"));
  }
}
