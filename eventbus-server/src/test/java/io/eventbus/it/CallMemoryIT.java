package io.eventbus.it;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.RequestOptions;
import io.eventbus.client.Response;
import io.eventbus.client.Service;
import io.eventbus.client.ServiceOptions;
import io.eventbus.protocol.ControlFrames;
import io.eventbus.protocol.TypeCode;
import io.eventbus.schema.Invoke;
import io.eventbus.schema.Overflow;
import io.eventbus.schema.Register;
import io.eventbus.server.BusServer;
import io.eventbus.server.samples.SampleCalls;
import io.netty.buffer.PooledByteBufAllocator;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Memory of calls: for any end of a call, and of its bus, nothing of it is kept. */
@ExtendWith(LeakWatch.class)
@Timeout(180)
class CallMemoryIT {
  private final Path root;
  private final long before = pinned();
  private final List<RawClient> clients = new ArrayList<>();

  CallMemoryIT(@TempDir Path root) {
    this.root = root;
  }

  @AfterEach
  void close() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
  }

  /** Returns the memory in buffers that were not released. */
  private static long pinned() {
    return PooledByteBufAllocator.DEFAULT.pinnedDirectMemory();
  }

  private RawClient client(URI bus) throws IOException {
    RawClient client = RawClient.connected(bus);
    clients.add(client);
    return client;
  }

  private RawClient serving(URI bus, int concurrency) throws IOException {
    RawClient client = client(bus);
    client.send(
        ControlFrames.encode(
            TypeCode.REGISTER,
            new Register(1L, "orders", concurrency, false, "", Map.of(), Overflow.DROP_OLDEST)));
    assertThat(client.expectConfirm().getTypeCode()).isEqualTo(TypeCode.REGISTER.code());
    return client;
  }

  /**
   * Calls from two connections after each other, of which one is on the member's loop and one is
   * not.
   */
  private void callAndHold(RawClient serving, URI bus) throws IOException {
    List<RawClient> callers = List.of(client(bus), client(bus));
    for (RawClient caller : callers) {
      for (long call = 1; call <= 20; call++) {
        call(caller, call);
        RawClient.BusFrame frame = serving.expect(TypeCode.INVOKE);
        Invoke invoke = SampleCalls.invoke(frame.buffer(), 0, frame.body().length);
        serving.send(
            ControlFrames.encode(TypeCode.REPLY, SampleCalls.reply(invoke.getCall(), "answer")));
        caller.expect(TypeCode.REPLY);
      }
    }
    // Part of these are with the member, the others wait for it.
    for (RawClient caller : callers) {
      for (long call = 21; call <= 40; call++) {
        call(caller, call);
      }
    }
    serving.expect(TypeCode.INVOKE);
  }

  private static void call(RawClient caller, long call) throws IOException {
    caller.send(ControlFrames.encode(TypeCode.REQUEST, SampleCalls.request(call, "orders", "ask")));
  }

  /** Ends the connections of clients in order when their bus does. */
  private List<Thread> endInOrder() {
    List<Thread> ending = new ArrayList<>();
    for (RawClient client : clients) {
      Thread end =
          new Thread(
              () -> {
                try {
                  client.awaitClose();
                  client.sendFrame(0x88, new byte[] {3, (byte) 0xE9});
                  client.close();
                } catch (IOException e) {
                  // The bus was faster.
                }
              });
      end.start();
      ending.add(end);
    }
    return ending;
  }

  private static void join(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private void assertNothingIsHeld() {
    assertThat(pinned() - before).as("bytes in buffers that were not released").isLessThan(1);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aBusEndsWithCalls(boolean inOrder) throws Exception {
    BusServer bus = TestBus.start("timeouts.shutdown", "1s", "timeouts.close", "10s");
    List<Thread> ending = List.of();
    try (bus) {
      callAndHold(serving(bus.uri(), 4), bus.uri());
      if (inOrder) {
        ending = endInOrder();
      }
    }
    join(ending);
    assertNothingIsHeld();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void busesEndWithCallsBetweenThem(boolean inOrder) throws Exception {
    List<Thread> ending = List.of();
    try (FederatedBuses buses = new FederatedBuses(root)) {
      for (int i = 0; i < 2; i++) {
        buses.add("timeouts.close", "10s");
      }
      buses.awaitLanes();
      RawClient serving = serving(buses.bus(1).uri(), 4);
      callAndHold(serving, buses.bus(0).uri());
      if (inOrder) {
        ending = endInOrder();
      }
    }
    join(ending);
    assertNothingIsHeld();
  }

  @Test
  void memoryDoesNotGrowForAnyEndOfCalls() throws Exception {
    try (CuttableProxy way = new CuttableProxy();
        FederatedBuses buses = new FederatedBuses(root)) {
      buses.add();
      way.to(buses.add("cluster.advertised", "127.0.0.1:" + way.port()).linkPort());
      buses.awaitLanes();
      for (boolean cut : new boolean[] {false, true}) {
        round(buses, way, cut);
        buses.closeClients();
        for (int i = 0; i < 2; i++) {
          buses.awaitMetric(buses.bus(i), "eventbus_calls_in_flight", 0);
          buses.awaitMetric(buses.bus(i), "eventbus_memory_used_bytes", 0);
        }
        long max = before;
        WatchedBus.await(() -> pinned() <= max, () -> pinned() - max + " bytes were not released");
      }
    }
  }

  /** Makes calls that are answered, cancelled, too late and left by their member. */
  private static void round(FederatedBuses buses, CuttableProxy way, boolean cut) throws Exception {
    EventBusClient there = buses.client(1);
    EventBusClient leaving = buses.client(1);
    for (EventBusClient member : List.of(there, leaving)) {
      Service service =
          member.serve(
              "mixed",
              ServiceOptions.DEFAULT,
              invocation ->
                  invocation.event().text().equals("answer")
                      ? CompletableFuture.completedFuture(Event.of("yes"))
                      : new CompletableFuture<>());
      service.ready().toCompletableFuture().get(60, TimeUnit.SECONDS);
    }
    EventBusClient caller = buses.client(0);
    RequestOptions waits = RequestOptions.DEFAULT.withTimeout(Duration.ofSeconds(30));
    List<CompletableFuture<Response>> calls = new ArrayList<>();
    for (int i = 0; i < 120; i++) {
      RequestOptions options =
          i % 3 == 2 ? RequestOptions.DEFAULT.withTimeout(Duration.ofMillis(200)) : waits;
      String text = i % 3 == 0 ? "answer" : "keep";
      CompletableFuture<Response> call =
          caller.request("mixed", Event.of(text), options).toCompletableFuture();
      calls.add(call);
      if (i % 3 == 1) {
        call.cancel(false);
      }
      if (i == 60 && cut) {
        way.cut();
      }
    }
    leaving.close(Duration.ZERO);
    if (cut) {
      way.heal();
    }
    for (CompletableFuture<Response> call : calls) {
      call.handle((answer, failure) -> "").get(60, TimeUnit.SECONDS);
    }
  }
}
