package io.eventbus.server.balance;

import io.eventbus.link.LinkServiceException;
import io.eventbus.server.balance.decision.MovePlanner;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * What buses say to each other about load and moves: a version, then values in a fixed order. What
 * comes in is checked, because it is counted on.
 */
final class BalanceMessages {
  /** Services of links; those of the registry are below 40. */
  static final int LOAD = 40;

  static final int RESERVE = 41;
  static final int DRAIN = 42;

  /** The channel of all of them: nothing big goes over it. */
  static final String CHANNEL = "balance";

  private static final int MOST_URLS = 8;
  private static final int VERSION = 1;

  private BalanceMessages() {}

  /** How a bus is: goes both ways. */
  record Load(double load, int clients, boolean overloaded, boolean draining) {
    Load {
      checkLoad("load", load);
      if (clients < 0) {
        throw new IllegalArgumentException("clients: " + clients + " (expected: >= 0)");
      }
    }

    byte[] encode() {
      return write(
          out -> {
            out.writeDouble(load);
            out.writeInt(clients);
            out.writeBoolean(overloaded);
            out.writeBoolean(draining);
          });
    }

    static Load decode(byte[] bytes) {
      return read(
          bytes, in -> new Load(in.readDouble(), in.readInt(), in.readBoolean(), in.readBoolean()));
    }
  }

  /** One client in a request. */
  record Wanted(long producer, double load, int hops) {
    Wanted {
      checkLoad("client load", load);
    }
  }

  /** Asks whether clients may come. */
  record Reserve(double load, boolean leaving, int lifeMillis, List<Wanted> clients) {
    Reserve {
      checkLoad("load", load);
      clients = List.copyOf(clients);
    }

    byte[] encode() {
      return write(
          out -> {
            out.writeDouble(load);
            out.writeBoolean(leaving);
            out.writeInt(lifeMillis);
            out.writeInt(clients.size());
            for (Wanted client : clients) {
              out.writeLong(client.producer());
              out.writeDouble(client.load());
              out.writeInt(client.hops());
            }
          });
    }

    static Reserve decode(byte[] bytes) {
      return read(
          bytes,
          in -> {
            double load = in.readDouble();
            boolean leaving = in.readBoolean();
            int life = in.readInt();
            int count = count("clients", in.readInt(), MovePlanner.MOST_CLIENTS);
            List<Wanted> clients = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
              clients.add(new Wanted(in.readLong(), in.readDouble(), in.readInt()));
            }
            return new Reserve(load, leaving, life, clients);
          });
    }
  }

  /** Says which clients may come: the first of those that were asked for, each with its token. */
  record Granted(List<String> urls, List<String> tokens) {
    Granted {
      urls = List.copyOf(urls);
      tokens = List.copyOf(tokens);
    }

    byte[] encode() {
      return write(
          out -> {
            out.writeInt(urls.size());
            for (String url : urls) {
              out.writeUTF(url);
            }
            out.writeInt(tokens.size());
            for (String token : tokens) {
              out.writeUTF(token);
            }
          });
    }

    static Granted decode(byte[] bytes) {
      return read(
          bytes,
          in ->
              new Granted(
                  texts(in, count("urls", in.readInt(), MOST_URLS)),
                  texts(in, count("tokens", in.readInt(), MovePlanner.MOST_CLIENTS))));
    }

    private static List<String> texts(DataInputStream in, int count) throws IOException {
      List<String> texts = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        texts.add(in.readUTF());
      }
      return texts;
    }
  }

  /** Tells a bus to move its clients away, or not to go on with it. */
  record Drain(boolean on) {
    byte[] encode() {
      return write(out -> out.writeBoolean(on));
    }

    static Drain decode(byte[] bytes) {
      return read(bytes, in -> new Drain(in.readBoolean()));
    }
  }

  private static void checkLoad(String name, double load) {
    if (!(load >= 0 && load < 1e6)) {
      throw new IllegalArgumentException(name + ": " + load + " (expected: 0 to 1000000)");
    }
  }

  private static int count(String name, int count, int most) throws IOException {
    if (count < 0 || count > most) {
      throw new IOException(name + ": " + count + " (expected: 0 to " + most + ")");
    }
    return count;
  }

  private interface Writer {
    void write(DataOutputStream out) throws IOException;
  }

  private interface Reader<T> {
    T read(DataInputStream in) throws IOException;
  }

  private static byte[] write(Writer values) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      values.write(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static <T> T read(byte[] bytes, Reader<T> values) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      byte version = in.readByte();
      if (version != VERSION) {
        throw new IOException("version: " + version + " (expected: " + VERSION + ")");
      }
      return values.read(in);
    } catch (IOException | IllegalArgumentException e) {
      throw new LinkServiceException("MALFORMED", String.valueOf(e.getMessage()));
    }
  }
}
