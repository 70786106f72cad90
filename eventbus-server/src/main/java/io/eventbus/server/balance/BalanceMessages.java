package io.eventbus.server.balance;

import io.eventbus.link.BinaryFields;
import io.eventbus.server.balance.decision.MovePlanner;
import java.io.DataInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Messages between buses about load and moves: a version, then values in a fixed order. Input is
 * checked, because decisions depend on it.
 */
final class BalanceMessages {
  /** Numbers of services of links; those of the registry are below 40. */
  static final int LOAD = 40;

  static final int RESERVE = 41;
  static final int DRAIN = 42;

  /** Channel of all these services: nothing big goes over it. */
  static final String CHANNEL = "balance";

  private static final int MAX_URLS = 8;

  private BalanceMessages() {}

  /** Load of a bus: goes both ways. */
  record Load(double load, int clients, boolean overloaded, boolean draining) {
    Load {
      checkLoad("load", load);
      if (clients < 0) {
        throw new IllegalArgumentException("clients: " + clients + " (expected: >= 0)");
      }
    }

    byte[] encode() {
      return BinaryFields.encode(
          out -> {
            out.writeDouble(load);
            out.writeInt(clients);
            out.writeBoolean(overloaded);
            out.writeBoolean(draining);
          });
    }

    static Load decode(byte[] bytes) {
      return BinaryFields.decode(
          bytes, in -> new Load(in.readDouble(), in.readInt(), in.readBoolean(), in.readBoolean()));
    }
  }

  /** Client in a request. */
  record Wanted(long producer, double load, int hops) {
    Wanted {
      checkLoad("client load", load);
    }
  }

  /** Request to take clients. */
  record Reserve(double load, boolean leaving, int lifeMillis, List<Wanted> clients) {
    Reserve {
      checkLoad("load", load);
      clients = List.copyOf(clients);
    }

    byte[] encode() {
      return BinaryFields.encode(
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
      return BinaryFields.decode(
          bytes,
          in -> {
            double load = in.readDouble();
            boolean leaving = in.readBoolean();
            int life = in.readInt();
            int count = BinaryFields.count(in, "clients", MovePlanner.MAX_CLIENTS);
            List<Wanted> clients = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
              clients.add(new Wanted(in.readLong(), in.readDouble(), in.readInt()));
            }
            return new Reserve(load, leaving, life, clients);
          });
    }
  }

  /**
   * Answer with the clients that may come: the first of those in the request, each with its token.
   */
  record Granted(List<String> urls, List<String> tokens) {
    Granted {
      urls = List.copyOf(urls);
      tokens = List.copyOf(tokens);
    }

    byte[] encode() {
      return BinaryFields.encode(
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
      return BinaryFields.decode(
          bytes,
          in ->
              new Granted(
                  texts(in, BinaryFields.count(in, "urls", MAX_URLS)),
                  texts(in, BinaryFields.count(in, "tokens", MovePlanner.MAX_CLIENTS))));
    }

    /** Returns a text without the tokens: the holder of one takes the client's place. */
    @Override
    public String toString() {
      return "Granted[urls=" + urls + ", tokens=" + tokens.size() + "]";
    }

    private static List<String> texts(DataInputStream in, int count) throws IOException {
      List<String> texts = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        texts.add(in.readUTF());
      }
      return texts;
    }
  }

  /** Order to a bus to move its clients away, or to stop doing so; perhaps it leaves for good. */
  record Drain(boolean on, boolean forGood) {
    byte[] encode() {
      return BinaryFields.encode(
          out -> {
            out.writeBoolean(on);
            out.writeBoolean(forGood);
          });
    }

    static Drain decode(byte[] bytes) {
      // A bus of an earlier version says nothing of the second.
      return BinaryFields.decode(
          bytes, in -> new Drain(in.readBoolean(), in.available() > 0 && in.readBoolean()));
    }
  }

  private static void checkLoad(String name, double load) {
    if (!(load >= 0 && load < 1e6)) {
      throw new IllegalArgumentException(name + ": " + load + " (expected: 0 to 1000000)");
    }
  }
}
