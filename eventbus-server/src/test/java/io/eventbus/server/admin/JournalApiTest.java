package io.eventbus.server.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.eventbus.journal.CursorMode;
import io.eventbus.journal.CursorStart;
import io.eventbus.journal.CursorView;
import io.eventbus.protocol.TopicFilter;
import io.eventbus.server.advisory.Advisories;
import io.eventbus.server.advisory.Advisory;
import io.eventbus.server.advisory.Advisory.JournalChange;
import io.eventbus.server.config.AdminAccessConfig;
import io.eventbus.server.config.AdminConfig;
import io.eventbus.server.config.Quota;
import io.eventbus.server.durable.FakeEvents;
import io.eventbus.server.durable.FakeJournals;
import io.eventbus.server.durable.FakeQuotas;
import io.eventbus.server.durable.JournalAdministration;
import io.eventbus.server.durable.JournalCluster;
import io.eventbus.server.security.PermissionPolicy;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Journals under {@code /api/v1/journals}. */
@Timeout(180)
class JournalApiTest {
  private final FakeBus bus = new FakeBus(0);
  private final FakeJournals journals = new FakeJournals();
  private final FakeQuotas quotas = new FakeQuotas();
  private final List<Advisory> told = new CopyOnWriteArrayList<>();
  private final AdminServer server;
  private final HttpClient client = HttpClient.newHttpClient();

  JournalApiTest() throws Exception {
    bus.journals(
        new JournalAdministration(
            journals, JournalCluster.ALONE, quotas.quotas, told::add, () -> {}));
    server =
        AdminServer.start(
            new AdminConfig(true, "127.0.0.1", 0, List.of(), AdminAccessConfig.open()),
            bus::health,
            new Advisories(),
            100);
    server.serve(bus, List.of(), PermissionPolicy.NOTHING);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private HttpResponse<String> send(String method, String path)
      throws IOException, InterruptedException {
    return client.send(request(method, path), HttpResponse.BodyHandlers.ofString());
  }

  private CompletableFuture<HttpResponse<String>> sendAsync(String method, String path) {
    return client.sendAsync(request(method, path), HttpResponse.BodyHandlers.ofString());
  }

  private HttpRequest request(String method, String path) {
    return HttpRequest.newBuilder(
            URI.create("http://127.0.0.1:" + server.port() + "/api/v1/journals" + path))
        .timeout(Duration.ofSeconds(60))
        .method(method, HttpRequest.BodyPublishers.noBody())
        .build();
  }

  private JsonNode done(String method, String path) throws IOException, InterruptedException {
    HttpResponse<String> response = send(method, path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return new ObjectMapper().readTree(response.body());
  }

  private void refused(String method, String path, int status, String... told)
      throws IOException, InterruptedException {
    HttpResponse<String> response = send(method, path);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(response.body()).contains(told);
  }

  private List<String> names(String query) throws IOException, InterruptedException {
    return StreamSupport.stream(done("GET", query).path("items").spliterator(), false)
        .map(item -> item.path("account").asText() + "/" + item.path("name").asText())
        .toList();
  }

  @Test
  void aJournalIsCreatedShownChangedAndDeleted() throws Exception {
    String definition = "/orders?filters=orders.%3E%20billing.*&max-age=7d&max-bytes=10GiB";
    assertThat(done("PUT", definition).toString())
        .isEqualTo(done("PUT", definition).toString())
        .contains("\"number\":1");
    JsonNode shown = done("GET", "/orders");
    assertThat(shown.path("journal").toString())
        .isEqualTo(
            "{\"account\":\"\",\"name\":\"orders\",\"number\":1,"
                + "\"filters\":[\"orders.>\",\"billing.*\"],\"keep\":\"all\","
                + "\"maxAgeMillis\":604800000,\"maxBytes\":10737418240,\"maxEvents\":0,"
                + "\"full\":\"drop-old\"}");
    assertThat(shown.path("content").path("firstPosition").asLong()).isEqualTo(1);
    done("PUT", "/orders/definition?max-bytes=0&full=refuse&max-events=5");
    JsonNode changed = done("GET", "/orders").path("journal");
    assertThat(changed.path("maxAgeMillis").asLong()).isEqualTo(604_800_000);
    assertThat(changed.path("maxBytes").asLong()).isZero();
    assertThat(changed.path("maxEvents").asLong()).isEqualTo(5);
    assertThat(changed.path("full").asText()).isEqualTo("refuse");
    // The same again changes nothing.
    done("PUT", "/orders/definition?full=refuse");
    done("DELETE", "/orders");
    refused("GET", "/orders", 404, "no such journal");
    refused("DELETE", "/orders", 404, "no such journal");
    assertThat(told)
        .containsExactly(
            new Advisory.JournalChanged(
                "",
                "orders",
                JournalChange.CREATED,
                "orders.> billing.* max-age=7d max-bytes=10737418240"),
            new Advisory.JournalChanged(
                "",
                "orders",
                JournalChange.CHANGED,
                "orders.> billing.* max-age=7d max-events=5 full=refuse"),
            new Advisory.JournalChanged("", "orders", JournalChange.DELETED, ""));
  }

  @Test
  void aTopicIsInOneJournalOfItsAccount() throws Exception {
    done("PUT", "/orders?filters=orders.%3E");
    refused("PUT", "/late?filters=a%20orders.*.late", 409, "orders.>", "one journal");
    done("PUT", "/late?filters=orders.*.late&account=acme");
    done("PUT", "/other?filters=other");
    refused("PUT", "/other/definition?filters=*.eu", 409, "orders.>");
    done("PUT", "/orders/definition?filters=orders.%3E%20more.%3E");
    refused("PUT", "/orders?filters=another", 409, "orders");
  }

  @Test
  void anAccountHasNoMoreJournalsThanItsQuota() throws Exception {
    quotas.limit("acme", Quota.JOURNALS, 1);
    done("PUT", "/a?filters=a&account=acme");
    done("PUT", "/a?filters=a&account=acme");
    refused(
        "PUT",
        "/b?filters=b&account=acme",
        409,
        "the clients of account 'acme' have 1 journals (expected: at most 1, quota of the account:"
            + " journals)");
    assertThat(names("")).containsExactly("acme/a");
    done("PUT", "/a?filters=a");
    done("PUT", "/b?filters=b");
    done("DELETE", "/a?account=acme");
    done("PUT", "/b?filters=b&account=acme");
  }

  @Test
  void journalsAreListedByAccountInPages() throws Exception {
    done("PUT", "/b?filters=b");
    done("PUT", "/a?filters=a");
    done("PUT", "/c?filters=a&account=acme");
    assertThat(names("")).containsExactly("/a", "/b", "acme/c");
    assertThat(names("?account=acme")).containsExactly("acme/c");
    JsonNode page = done("GET", "?limit=2");
    assertThat(page.path("items")).hasSize(2);
    String next = page.path("next").asText();
    assertThat(names(next.substring("/api/v1/journals".length()))).containsExactly("acme/c");
    refused("GET", "/c", 404, "no such journal");
    assertThat(done("GET", "/c?account=acme").path("journal").path("number").asInt()).isEqualTo(3);
  }

  @Test
  void eventsAreTrimmedAndPurgedAndLagIsTold() throws Exception {
    done("PUT", "/orders?filters=orders.%3E");
    journals.createCursor(
        1, "audit", TopicFilter.parse("orders.eu"), CursorMode.EXCLUSIVE, CursorStart.FIRST, 0);
    for (int i = 1; i <= 3; i++) {
      FakeEvents.publish(journals, 1, "orders.eu", i, "eu-" + i);
      FakeEvents.publish(journals, 1, "orders.us", i, "us-" + i);
    }
    journals.settleCursor(1, "audit", 0, 2);
    JsonNode lag = done("GET", "/orders/cursors").path("items").get(0);
    assertThat(lag.path("name").asText()).isEqualTo("audit");
    assertThat(lag.path("filter").asText()).isEqualTo("orders.eu");
    assertThat(lag.path("settled").asLong() + lag.path("lag").asLong()).isEqualTo(6);
    assertThat(done("PUT", "/orders/purge?topic=orders.us").path("events").asInt()).isEqualTo(3);
    assertThat(done("PUT", "/orders/purge?from=1&to=2").path("events").asInt()).isEqualTo(1);
    assertThat(done("PUT", "/orders/trim?up-to=4").path("firstPosition").asLong()).isEqualTo(5);
    JsonNode content = done("GET", "/orders").path("content");
    assertThat(content.path("firstPosition").asLong()).isEqualTo(5);
    assertThat(content.path("lastPosition").asLong()).isEqualTo(6);
    assertThat(content.path("events").asLong()).isEqualTo(1);
    assertThat(told.subList(1, told.size()))
        .containsExactly(
            new Advisory.JournalChanged("", "orders", JournalChange.PURGED, "removed events: 3"),
            new Advisory.JournalChanged("", "orders", JournalChange.PURGED, "removed events: 1"),
            new Advisory.JournalChanged("", "orders", JournalChange.TRIMMED, "first position: 5"));
  }

  private List<Long> dead(String query) throws IOException, InterruptedException {
    return StreamSupport.stream(
            done("GET", "/orders/dead?durable=work" + query).path("items").spliterator(), false)
        .map(item -> item.path("position").asLong())
        .toList();
  }

  @Test
  void deadEventsAreListedInPages() throws Exception {
    done("PUT", "/orders?filters=orders.%3E&account=acme");
    FakeEvents.reject(journals, 1, "work", 5, "no stock");
    JsonNode page = done("GET", "/orders/dead?account=acme&durable=work&limit=3");
    JsonNode first = page.path("items").get(0);
    assertThat(first.path("position").asLong()).isEqualTo(1);
    assertThat(first.path("attempts").asInt()).isEqualTo(1);
    assertThat(first.path("reason").asText()).isEqualTo("no stock");
    assertThat(first.path("time").asText()).startsWith("1970-01-01T00:00:01.");
    assertThat(page.path("items")).hasSize(3);
    String next = page.path("next").asText();
    assertThat(next)
        .isEqualTo("/api/v1/journals/orders/dead?limit=3&account=acme&durable=work&after=3");
    JsonNode last = done("GET", next.substring("/api/v1/journals".length()));
    assertThat(last.path("items")).hasSize(2);
    assertThat(last.path("items").get(1).path("position").asLong()).isEqualTo(5);
    assertThat(last.path("next").isNull()).isTrue();
  }

  @Test
  void whatWaitsIsListedInPages() throws Exception {
    done("PUT", "/orders?filters=orders.%3E");
    FakeEvents.retryTwo(journals, 1, "work");
    JsonNode page = done("GET", "/orders/waiting?durable=work&limit=1");
    assertThat(page.path("items").get(0).path("from").asLong()).isEqualTo(1);
    assertThat(page.path("items").get(0).path("to").asLong()).isEqualTo(1);
    assertThat(page.path("items").get(0).path("attempt").asInt()).isEqualTo(2);
    JsonNode next = done("GET", page.path("next").asText().substring("/api/v1/journals".length()));
    assertThat(next.path("items")).hasSize(1);
    assertThat(next.path("items").get(0).path("from").asLong()).isEqualTo(2);
    assertThat(next.path("next").isNull()).isTrue();
    JsonNode consumers = done("GET", "/orders/consumers?durable=work&limit=1");
    assertThat(consumers.path("items").get(0).path("bus").asText()).isEqualTo("bus");
    assertThat(consumers.path("items").get(0).path("events").asInt()).isEqualTo(3);
    assertThat(consumers.path("items").get(0).path("oldest").asLong()).isEqualTo(3);
    refused("GET", "/orders/waiting?durable=work&after=1", 400, "after: illegal");
    refused("GET", "/orders/consumers?durable=work&after=-1", 400, "after: out of range");
  }

  @Test
  void deadEventsAreGivenOutAgainOrDiscarded() throws Exception {
    done("PUT", "/orders?filters=orders.%3E");
    FakeEvents.reject(journals, 1, "work", 2_205, "no stock");
    assertThat(dead("&limit=1000")).hasSize(1_000);
    String redrive = "/orders/redrive?durable=work";
    assertThat(done("PUT", redrive + "&from=2&to=3").path("events").asLong()).isEqualTo(2);
    assertThat(dead("&limit=2")).containsExactly(1L, 4L);
    assertThat(done("PUT", redrive + "&from=2201&discard=true").path("events").asLong())
        .isEqualTo(5);
    assertThat(journals.cursor(1, "work"))
        .returns(2L, CursorView::waiting)
        .returns(2_198L, CursorView::dead);
    // By three records, the last of which takes what is left.
    int before = journals.applied();
    assertThat(done("PUT", redrive + "&discard=false").path("events").asLong()).isEqualTo(2_198);
    assertThat(journals.applied() - before).isEqualTo(3);
    assertThat(journals.cursor(1, "work"))
        .returns(2_200L, CursorView::waiting)
        .returns(0L, CursorView::dead);
    assertThat(dead("")).isEmpty();
    assertThat(done("PUT", redrive).path("events").asLong()).isZero();
    assertThat(told.subList(1, told.size()))
        .containsExactly(
            new Advisory.JournalChanged(
                "", "orders", JournalChange.REDRIVEN, "dead letters of work: 2"),
            new Advisory.JournalChanged(
                "", "orders", JournalChange.DISCARDED, "dead letters of work: 5"),
            new Advisory.JournalChanged(
                "", "orders", JournalChange.REDRIVEN, "dead letters of work: 2198"),
            new Advisory.JournalChanged(
                "", "orders", JournalChange.REDRIVEN, "dead letters of work: 0"));
  }

  @Test
  void deadEventsAreOfASharedDurableSubscription() throws Exception {
    done("PUT", "/orders?filters=orders.%3E");
    journals.createCursor(
        1, "audit", TopicFilter.parse("orders.>"), CursorMode.EXCLUSIVE, CursorStart.FIRST, 0);
    for (String each : List.of("GET consumers", "GET waiting", "GET dead", "PUT redrive")) {
      String method = each.substring(0, 3);
      String what = each.substring(4);
      refused(method, "/gone/" + what + "?durable=work", 404, "no such journal");
      refused(
          method,
          "/orders/" + what + "?durable=work",
          404,
          "durable: work (expected: a durable subscription of the journal orders)");
      refused(
          method,
          "/orders/" + what + "?durable=audit",
          409,
          "durable: audit is not shared (expected: a shared durable subscription)");
    }
  }

  @Test
  void aDurableSubscriptionThatEndsMeanwhileIsNotFound() throws Exception {
    done("PUT", "/orders?filters=orders.%3E");
    FakeEvents.reject(journals, 1, "work", 1, "");
    journals.holds(true);
    var unused = journals.deleteCursor(1, "work", 0);
    var answer = sendAsync("PUT", "/orders/redrive?durable=work");
    journals.awaitHeld(2);
    journals.holds(false);
    journals.applyHeld();
    assertThat(answer.get().statusCode()).isEqualTo(404);
    assertThat(answer.get().body()).contains("cursor: work (expected: a cursor of ");
  }

  @ParameterizedTest
  @CsvSource({
    "GET, /a/dead, durable: missing",
    "GET, /a/dead?durable=, durable: missing or illegal",
    "GET, /a/dead?durable=a.*, durable: missing or illegal",
    "GET, /a/dead?durable=d&after=-1, after: out of range",
    "GET, /a/dead?durable=d&after=9223372036854775807, after: out of range",
    "GET, /a/dead?durable=d&limit=1001, limit: out of range",
    "PUT, /a/redrive, durable: missing",
    "PUT, /a/redrive?durable=d&from=0, from <= to",
    "PUT, /a/redrive?durable=d&from=2&to=1, from <= to",
    "PUT, /a/redrive?durable=d&discard=yes, true or false",
    "PUT, /a, filters: missing",
    "PUT, /a?filters=, filters: illegal",
    "PUT, /a?filters=a..b, filters: illegal",
    "PUT, /a?filters=$SYS.%3E, no system topics",
    "PUT, /a%20b?filters=a, journal: topic",
    "PUT, /a%2Fb?filters=a, resources",
    "PUT, /a?filters=a&keep=some, all or latest",
    "PUT, /a?filters=a&max-age=soon, max-age: illegal",
    "PUT, /a?filters=a&max-events=-1, retention.events",
    "PUT, /a?filters=a&account=$x, account: illegal",
    "PUT, /a/trim, up-to: missing",
    "PUT, /a/purge, no topic",
    "PUT, /a/purge?from=1, no topic",
    "PUT, /a/purge?from=2&to=1, from <= to",
    "PUT, /a/purge?topic=a.*, topic: illegal",
    "GET, ?after=a, account/journal"
  })
  void errorsNameTheParameter(String method, String path, String told) throws Exception {
    HttpResponse<String> response = send(method, path);
    assertThat(response.statusCode()).as(response.body()).isIn(400, 404);
    if (!told.equals("resources")) {
      assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
      assertThat(response.body()).contains(told);
    }
  }

  @Test
  void journalsThatDoNotAnswerAreNoRefusal() throws Exception {
    done("PUT", "/a?filters=a");
    journals.unavailable(true);
    refused("PUT", "/b?filters=b", 504, "no answer");
    refused("GET", "/a", 503, "closed");
    journals.unavailable(false);
    done("PUT", "/b?filters=b");
  }

  @Test
  void aBusWithoutJournalsSaysSo() throws Exception {
    bus.journals = null;
    refused("GET", "", 404, "no durable topics", "data directory");
    refused("PUT", "/a?filters=a", 404, "no durable topics");
  }
}
