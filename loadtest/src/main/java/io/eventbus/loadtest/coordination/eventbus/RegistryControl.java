package io.eventbus.loadtest.coordination.eventbus;

import io.eventbus.link.LinkNode;
import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Register;
import io.eventbus.registry.Endpoint;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Requests of the load test to its own server processes, over a link: how they stand, what they
 * hold, and when they saw a change.
 */
final class RegistryControl {
  /** Far from the numbers of the registry's own services. */
  static final int STATUS = 1_000;

  static final int READ = 1_001;
  static final int READ_NEWEST = 1_002;
  static final int SEEN = 1_003;
  static final int REPEATED = 1_004;

  /** The one setting of the topics that stand for registers. */
  static final String SETTING = "v";

  private static final Duration ANSWER = CoordinationClient.DEADLINE;

  private RegistryControl() {}

  /** Status of a server. */
  record Status(boolean leads, int voters, int members, boolean changing, long term, long applied) {
    byte[] encode() {
      return write(
          out -> {
            out.writeBoolean(leads);
            out.writeInt(voters);
            out.writeInt(members);
            out.writeBoolean(changing);
            out.writeLong(term);
            out.writeLong(applied);
          });
    }

    static Status decode(byte[] bytes) {
      return parse(
          bytes,
          in ->
              new Status(
                  in.readBoolean(),
                  in.readInt(),
                  in.readInt(),
                  in.readBoolean(),
                  in.readLong(),
                  in.readLong()));
    }
  }

  static byte[] encode(Register register) {
    return write(
        out -> {
          out.writeUTF(register.name());
          out.writeUTF(register.value());
          out.writeLong(register.version());
        });
  }

  static Register register(byte[] bytes) {
    return parse(bytes, in -> new Register(in.readUTF(), in.readUTF(), in.readLong(), 0));
  }

  /** Times of {@link System#nanoTime()}, which is the same for all processes of the machine. */
  static byte[] encode(long[] nanos) {
    return write(
        out -> {
          out.writeInt(nanos.length);
          for (long time : nanos) {
            out.writeLong(time);
          }
        });
  }

  static long[] times(byte[] bytes) {
    return parse(
        bytes,
        in -> {
          long[] nanos = new long[in.readInt()];
          for (int i = 0; i < nanos.length; i++) {
            nanos[i] = in.readLong();
          }
          return nanos;
        });
  }

  static InetSocketAddress address(Endpoint server) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), server.port());
  }

  static byte[] encode(long number) {
    return write(out -> out.writeLong(number));
  }

  static long number(byte[] bytes) {
    return parse(bytes, in -> in.readLong());
  }

  /** Asks a server and waits for its answer. */
  static byte[] ask(
      LinkNode links, InetSocketAddress server, String channel, int service, String argument) {
    byte[] request = write(out -> out.writeUTF(argument));
    try {
      return links
          .call(server, channel, service, request, ANSWER)
          .toCompletableFuture()
          .get(ANSWER.plusSeconds(1).toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    } catch (ExecutionException e) {
      throw new CoordinationException("link", e.getCause() == null ? e : e.getCause());
    } catch (TimeoutException e) {
      throw new CoordinationException("timeout", e);
    }
  }

  static String argument(byte[] request) {
    return parse(request, in -> in.readUTF());
  }

  private interface Writing {
    void to(DataOutputStream out) throws IOException;
  }

  private interface Reading<T> {
    T from(DataInputStream in) throws IOException;
  }

  private static byte[] write(Writing writing) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      writing.to(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static <T> T parse(byte[] bytes, Reading<T> reading) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      return reading.from(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
