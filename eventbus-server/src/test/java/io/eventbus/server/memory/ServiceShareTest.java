package io.eventbus.server.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServiceShareTest {
  /** Limit: half of it is for services, and a quarter of that for a connection. */
  private static final long LIMIT = 8 << 20;

  private final BusMemory memory = new BusMemory(LIMIT);
  private final ServiceMemory.OfLoop loop = memory.services().ofLoop();

  /** Connections of an address that have so many bytes together. */
  private static final class Address implements ServiceShare.Address {
    private long left;

    Address(long left) {
      this.left = left;
    }

    @Override
    public boolean acquireServiceBytes(long bytes) {
      if (bytes > left) {
        return false;
      }
      left -= bytes;
      return true;
    }

    @Override
    public void releaseServiceBytes(long bytes) {
      left += bytes;
    }
  }

  private ServiceShare share() {
    return new ServiceShare(loop, ServiceShare.Address.UNBOUNDED);
  }

  private static long takeAll(ServiceShare share, long each) {
    long taken = 0;
    while (share.acquire(each, 0) == null) {
      taken += each;
    }
    return taken;
  }

  @Test
  void aConnectionHasAQuarterOfWhatIsForServices() {
    ServiceShare share = share();
    assertThat(takeAll(share, 1_000)).isBetween(LIMIT / 8 - 1_000, LIMIT / 8);
    assertThat(share.acquire(1_000, 0))
        .contains("of the connection take " + share.bytes() + " bytes, and this one 1000")
        .contains("at most " + LIMIT / 8 + " together, an eighth of limits.memory-bytes");
    assertThat(share.acquire(10, 0)).as("what fits").isNull();
  }

  @Test
  void somethingLargeMayAlwaysBeBegunByWhoHasNothing() {
    ServiceShare share = share();
    assertThat(share.acquire(LIMIT / 4, LIMIT / 4)).isNull();
    assertThat(share.acquire(LIMIT / 4, LIMIT / 4)).contains("of the connection take");
  }

  @Test
  void ofTheLastQuarterOnlyThoseWithLittleGetAny() {
    List<ServiceShare> many = new ArrayList<>();
    long all = 0;
    for (int i = 0; i < 20; i++) {
      many.add(share());
      all += takeAll(many.get(i), 1_000);
    }
    assertThat(all).isBetween(LIMIT / 2 / 4 * 3, LIMIT / 2 / 10 * 9);
    ServiceShare late = share();
    assertThat(takeAll(late, 1_000)).isBetween(4_000L, ServiceShare.SMALL_BYTES);
    assertThat(late.acquire(1_000, 0))
        .containsPattern("at most [0-9]+ together while those of all take over");
  }

  @Test
  void manyWithLittleLeaveSomeForTheNextOne() {
    ServiceMemory.OfLoop large = new BusMemory(64 << 20).services().ofLoop();
    for (int i = 0; i < 1_000; i++) {
      takeAll(new ServiceShare(large, ServiceShare.Address.UNBOUNDED), 500);
    }
    ServiceShare late = new ServiceShare(large, ServiceShare.Address.UNBOUNDED);
    assertThat(takeAll(late, 500)).as("a few calls").isGreaterThanOrEqualTo(1_000);
  }

  @Test
  void releasedBytesAreAvailableAgain() {
    List<ServiceShare> many = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      many.add(share());
      takeAll(many.get(i), 500);
    }
    many.forEach(share -> share.release(share.bytes(), 0));
    assertThat(takeAll(share(), 500)).isBetween(LIMIT / 8 - 500, LIMIT / 8);
  }

  @Test
  void noCallerGetsMoreThanThereIs() {
    long all = 0;
    for (int i = 0; i < 100_000; i++) {
      all += takeAll(share(), 10);
    }
    assertThat(all).isBetween(LIMIT / 2 - (64 << 10), LIMIT / 2);
    assertThat(share().acquire(1_000_000, 0)).contains("half of limits.memory-bytes");
  }

  @Test
  void anAddressHasItsPartHoweverManyConnectionsItHas() {
    Address address = new Address(10_000);
    ServiceShare one = new ServiceShare(loop, address);
    ServiceShare other = new ServiceShare(loop, address);
    assertThat(one.acquire(6_000, 0)).isNull();
    assertThat(other.acquire(6_000, 0)).contains("from the client's address have no room for 6000");
    one.release(6_000, 0);
    assertThat(other.acquire(6_000, 0)).isNull();
  }

  @Test
  void addedBytesAreNotReleasedToTheAddress() {
    Address address = new Address(10_000);
    ServiceShare share = new ServiceShare(loop, address);
    assertThat(share.acquire(6_000, 0)).isNull();
    share.add(6_000);
    assertThat(share.bytes()).isEqualTo(12_000);
    share.release(6_000, 0);
    share.release(6_000, 0);
    assertThat(address.left).isEqualTo(10_000);
  }

  @Test
  void anotherBusIsCountedAndNeverRefused() {
    ServiceShare bus = ServiceShare.ofBus(loop);
    assertThat(bus.acquire(LIMIT, 0)).isNull();
    assertThat(memory.services().used()).isGreaterThanOrEqualTo(LIMIT);
    bus.release(LIMIT, 0);
    assertThat(memory.services().used()).isZero();
  }

  @Test
  void bytesCountedElsewhereCountOnce() {
    ServiceShare share = share();
    assertThat(share.acquire(100_000, 90_000)).isNull();
    assertThat(memory.used()).isBetween(10_000L, 10_000L + (32 << 10));
    assertThat(memory.services().used()).isBetween(100_000L, 100_000L + (32 << 10));
    share.release(100_000, 90_000);
    assertThat(memory.used()).isZero();
    assertThat(memory.services().used()).isZero();
  }
}
