package io.eventbus.loadtest.coordination.zookeeper;

import io.eventbus.loadtest.coordination.CoordinationClient;
import io.eventbus.loadtest.coordination.CoordinationException;
import io.eventbus.loadtest.coordination.Put;
import io.eventbus.loadtest.coordination.Register;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.WatchedEvent;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.client.ZKClientConfig;
import org.apache.zookeeper.data.Stat;

/**
 * ZooKeeper's client: one session, over a connection to whichever server it picks. A register is a
 * node; writes are unconditional.
 */
final class ZooKeeperWriter implements CoordinationClient {
  private static final int SESSION_MILLIS = 20_000;
  private static final int CLOSE_MILLIS = 200;

  private final String servers;
  private volatile ZooKeeper client;

  ZooKeeperWriter(String servers) {
    this.servers = servers;
    this.client = open(servers);
  }

  private static ZooKeeper open(String servers) {
    CountDownLatch connected = new CountDownLatch(1);
    try {
      ZooKeeper opened =
          new ZooKeeper(
              servers,
              SESSION_MILLIS,
              (WatchedEvent event) -> {
                if (event.getState() == Watcher.Event.KeeperState.SyncConnected) {
                  connected.countDown();
                }
              },
              new ZKClientConfig());
      if (!connected.await(SESSION_MILLIS, TimeUnit.MILLISECONDS)) {
        opened.close(CLOSE_MILLIS);
        throw new CoordinationException("connect", "no session within 20 s");
      }
      return opened;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    }
  }

  private interface Request<T> {
    T send(ZooKeeper zooKeeper) throws KeeperException, InterruptedException;
  }

  private <T> T call(Request<T> request) {
    try {
      return request.send(client);
    } catch (KeeperException e) {
      if (e.code() == KeeperException.Code.SESSIONEXPIRED) {
        client = open(servers);
      }
      throw new CoordinationException(e.code().name(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CoordinationException("interrupted", e);
    }
  }

  @Override
  public void create(String register, String value) {
    call(
        zk ->
            zk.create(
                path(register), bytes(value), ZooDefs.Ids.OPEN_ACL_UNSAFE, CreateMode.PERSISTENT));
  }

  @Override
  public void write(Put put) {
    call(zk -> zk.setData(path(put.register()), bytes(put.value()), -1));
  }

  @Override
  public CompletableFuture<Void> writeLater(Put put) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    client.setData(
        path(put.register()),
        bytes(put.value()),
        -1,
        (code, path, context, stat) -> {
          KeeperException.Code told = KeeperException.Code.get(code);
          if (told == KeeperException.Code.OK) {
            done.complete(null);
          } else {
            done.completeExceptionally(new CoordinationException(told.name(), path));
          }
        },
        null);
    return done;
  }

  @Override
  public Register read(String register) {
    Stat stat = new Stat();
    byte[] value = call(zk -> zk.getData(path(register), false, stat));
    return new Register(
        register,
        new String(value, StandardCharsets.US_ASCII),
        stat.getVersion(),
        stat.getVersion());
  }

  @Override
  public Register readNewest(String register) {
    CompletableFuture<Integer> synced = new CompletableFuture<>();
    client.sync(path(register), (code, path, context) -> synced.complete(code), null);
    // Requests of one session are carried out in their order.
    return read(register);
  }

  @Override
  public boolean replace(Register read, String value) {
    return call(
        zk -> {
          try {
            zk.setData(path(read.name()), bytes(value), (int) read.version());
            return true;
          } catch (KeeperException.BadVersionException e) {
            return false;
          }
        });
  }

  private static String path(String register) {
    return "/" + register;
  }

  private static byte[] bytes(String value) {
    return value.getBytes(StandardCharsets.US_ASCII);
  }

  @Override
  public void close() {
    try {
      client.close(CLOSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
