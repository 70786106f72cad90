package io.eventbus.server.call;

import static org.assertj.core.api.Assertions.assertThat;

import io.eventbus.schema.Execution;
import io.eventbus.schema.FailureCode;
import io.eventbus.server.call.dispatch.MemberWindow;
import io.eventbus.server.delivery.Delivery;
import io.eventbus.server.memory.ServiceShare;
import io.eventbus.server.samples.ReachableHeap;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Heap of calls and services: the measured growth is what clients are charged for; the figures in
 * docs/configuration.md are printed here.
 */
class CallHeapTest {
  private static final int MANY = 20_000;
  private static final int OF_ONE_CLIENT = 1_000;

  private final CallFixture kit = new CallFixture(2);
  private final Delivery body = kit.delivery("body");
  private final List<CallerConnection> callers = new ArrayList<>();
  private final List<ServiceShare> shares = new ArrayList<>();

  private static final class Caller implements CallerPort {
    @Override
    public void reply(long call, long member, int queued, int handled, Delivery reply) {}

    @Override
    public void failure(
        long call, long member, FailureCode code, Execution executed, long after, Delivery why) {
      throw new AssertionError(code);
    }

    @Override
    public void failure(
        long call, long member, FailureCode code, Execution executed, long after, String why) {
      if (code != FailureCode.CANCELLED) {
        throw new AssertionError(code + ": " + why);
      }
    }
  }

  /** Member that keeps nothing of its calls. */
  private static final class Member implements MemberPort {
    @Override
    public void invoke(MemberInvocation call) {}

    @Override
    public void cancel(long call, String reason) {}
  }

  private ServiceShare share(int loop) {
    ServiceShare made = kit.loops.get(loop).share(ServiceShare.Address.UNBOUNDED);
    shares.add(made);
    return made;
  }

  private void call(int i, String service, int waitMillis) {
    if (i % OF_ONE_CLIENT == 0) {
      CallerInfo info = new CallerInfo(1L + i, new byte[0], "user" + i);
      callers.add(kit.loops.get(0).caller(new Caller(), info, share(0)));
    }
    CallRequest request = new CallRequest();
    byte[] name = service.getBytes(StandardCharsets.UTF_8);
    request.service = ByteBuffer.wrap(name);
    request.serviceLength = name.length;
    request.call = 1L + i;
    request.waitMillis = waitMillis;
    request.body = body;
    assertThat(callers.get(callers.size() - 1).begin(request)).isTrue();
  }

  private void member(int i, String service) {
    MemberConnection client = kit.loops.get(0).server(new Member(), 1L + i);
    assertThat(client.register(1, service, 1_024)).isNotNull();
  }

  private long held() {
    return shares.stream().mapToLong(ServiceShare::bytes).sum() / MANY;
  }

  private void isCounted(String what, long measured, long counted) {
    System.out.println(what + ": " + measured + " bytes of heap, counted as " + counted);
    assertThat(counted).as(what).isBetween((long) (measured * 0.9), measured * 2);
  }

  @Test
  void callsThatMembersHave() {
    // Enough members for a place for each call.
    for (int i = 0; i < MANY / MemberWindow.MAX_FIRST; i++) {
      member(i, "s");
    }
    long before = ReachableHeap.bytes(kit, callers);
    kit.on(
        0,
        () -> {
          for (int i = 0; i < MANY; i++) {
            call(i, "s", 0);
          }
        });
    isCounted("a call", (ReachableHeap.bytes(kit, callers) - before) / MANY, held() - body.size());
  }

  @Test
  void callsThatWaitForServicesOfTheirOwn() {
    long before = ReachableHeap.bytes(kit, callers);
    kit.on(
        0,
        () -> {
          for (int i = 0; i < MANY; i++) {
            call(i, "services." + i, 60_000);
          }
        });
    isCounted(
        "a service waited for",
        (ReachableHeap.bytes(kit, callers) - before) / MANY,
        held() - body.size());
    kit.on(0, () -> callers.forEach(CallerConnection::close));
    assertThat(held()).isZero();
    assertThat(kit.memory.services().used()).isZero();
  }

  @Test
  void servicesThatLoopsHaveCalled() {
    long before = ReachableHeap.bytes(kit, callers);
    long counted = 0;
    kit.on(
        0,
        () -> {
          for (int i = 0; i < MANY; i++) {
            member(i, "services." + i);
          }
        });
    for (int loop = 0; loop < 2; loop++) {
      int at = loop;
      kit.on(
          at,
          () -> {
            for (int i = 0; i < MANY; i++) {
              byte[] name = ("services." + i).getBytes(StandardCharsets.UTF_8);
              ByteBuffer in = ByteBuffer.wrap(name);
              LoopServices services = kit.loops.get(at).services();
              assertThat(services.find("", in, 0, name.length, false, false, kit.now)).isNotNull();
            }
          });
    }
    for (int i = 0; i < MANY; i++) {
      counted += CallHeap.ofRegistration("services." + i, "", Map.of(), 2);
    }
    isCounted("a service", (ReachableHeap.bytes(kit, callers) - before) / MANY, counted / MANY);
  }
}
