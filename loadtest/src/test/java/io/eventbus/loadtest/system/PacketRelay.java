package io.eventbus.loadtest.system;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Carries the packets of a network whose machines are the ends of VXLAN tunnels (RFC 7348), late,
 * and not all of them. The machine with the number n, from 1, has the hardware address
 * 02:00:00:00:00:n. Any thread.
 */
final class PacketRelay implements AutoCloseable {
  private static final int VXLAN_HEAD = 8;
  private static final int ETHERNET_HEAD = 14;
  private static final int IPV4 = 0x0800;
  private static final int TCP = 6;
  private static final long SEED = 20;

  private record Packet(ByteBuffer bytes, SocketAddress to, long due) {}

  private final DatagramChannel socket;
  private final List<InetSocketAddress> machines = new ArrayList<>();
  // A network has a bound, too; beyond it packets are lost.
  private final BlockingQueue<Packet> underWay = new LinkedBlockingQueue<>(100_000);
  private final Random random = new Random(SEED);
  private final AtomicLong lost = new AtomicLong();
  private volatile long delayNanos;
  private volatile int lossPercent;

  PacketRelay(String address, int port, List<String> machines) throws IOException {
    machines.forEach(machine -> this.machines.add(new InetSocketAddress(machine, port)));
    socket = DatagramChannel.open();
    socket.bind(new InetSocketAddress(address, port));
    start("packets-in", this::receive);
    start("packets-out", this::send);
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private static void start(String name, Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (ClosedChannelException | InterruptedException e) {
                Thread.currentThread().interrupt();
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            },
            name);
    thread.setDaemon(true);
    thread.start();
  }

  /** All packets that come from now on take so long, and so many are lost. */
  void impair(Duration delay, int percent) {
    delayNanos = delay.toNanos();
    lossPercent = percent;
  }

  /** Returns the number of packets that were lost on purpose. */
  long lost() {
    return lost.get();
  }

  private void receive() throws IOException {
    ByteBuffer in = ByteBuffer.allocate(1 << 16);
    while (true) {
      SocketAddress from = socket.receive(in.clear());
      long due = System.nanoTime() + delayNanos;
      in.flip();
      if (in.remaining() < VXLAN_HEAD + ETHERNET_HEAD) {
        continue;
      }
      byte[] packet = new byte[in.remaining()];
      in.get(packet);
      fillChecksum(packet);
      for (InetSocketAddress machine : machines) {
        if (isFor(packet, machine) && !machine.equals(from(from))) {
          pass(new Packet(ByteBuffer.wrap(packet), machine, due));
        }
      }
    }
  }

  /** Tunnels send from any port. */
  private InetSocketAddress from(SocketAddress sender) {
    return new InetSocketAddress(
        ((InetSocketAddress) sender).getAddress(), machines.get(0).getPort());
  }

  private boolean isFor(byte[] packet, InetSocketAddress machine) {
    boolean toAll = (packet[VXLAN_HEAD] & 1) != 0;
    return toAll || packet[VXLAN_HEAD + 5] == machines.indexOf(machine) + 1;
  }

  private void pass(Packet packet) {
    if (random.nextInt(100) < lossPercent || !underWay.offer(packet)) {
      lost.incrementAndGet();
    }
  }

  private void send() throws IOException, InterruptedException {
    while (socket.isOpen()) {
      Packet next = underWay.take();
      for (long left = next.due - System.nanoTime(); left > 0; ) {
        LockSupport.parkNanos(left);
        left = next.due - System.nanoTime();
      }
      try {
        socket.send(next.bytes, next.to);
      } catch (ClosedChannelException e) {
        throw e;
      } catch (IOException e) {
        // A machine that is gone; the packet is lost, as on any network.
        lost.incrementAndGet();
      }
    }
  }

  /** The kernel leaves the checksum of TCP to hardware, of which there is none on this way. */
  private static void fillChecksum(byte[] packet) {
    ByteBuffer bytes = ByteBuffer.wrap(packet);
    int ip = VXLAN_HEAD + ETHERNET_HEAD;
    if ((bytes.getShort(ip - 2) & 0xFFFF) != IPV4 || bytes.get(ip + 9) != TCP) {
      return;
    }
    int tcp = ip + (bytes.get(ip) & 0x0F) * 4;
    int end = ip + (bytes.getShort(ip + 2) & 0xFFFF);
    bytes.putShort(tcp + 16, (short) 0);
    int sum = TCP + end - tcp;
    for (int at = ip + 12; at < ip + 20; at += 2) {
      sum += bytes.getShort(at) & 0xFFFF;
    }
    for (int at = tcp; at < end; at += 2) {
      sum += at + 1 < end ? bytes.getShort(at) & 0xFFFF : (bytes.get(at) & 0xFF) << 8;
    }
    while (sum >> 16 != 0) {
      sum = (sum & 0xFFFF) + (sum >> 16);
    }
    bytes.putShort(tcp + 16, (short) ~sum);
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
