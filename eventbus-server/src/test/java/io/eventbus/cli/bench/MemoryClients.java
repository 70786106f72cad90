package io.eventbus.cli.bench;

import io.eventbus.client.ClientCounters;
import io.eventbus.client.Event;
import io.eventbus.client.EventBusClient;
import io.eventbus.client.EventHandler;
import io.eventbus.client.Published;
import io.eventbus.client.ReceivedEvent;
import io.eventbus.client.Subscription;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Clients without a network: the publisher's thread calls the handlers. Only the methods of a
 * measurement are there; any other fails.
 */
final class MemoryClients implements Supplier<EventBusClient> {
  private final List<EventHandler> handlers = new ArrayList<>();
  final Set<String> topics = new HashSet<>();
  int closed;

  /** Path of a payload to all subscribers. */
  Function<byte[], List<byte[]>> path = List::of;

  /** Confirmation that the publisher gets for each event. */
  CompletableFuture<@Nullable Published> confirmation = CompletableFuture.completedFuture(null);

  private static <T> T fake(Class<T> type, Function<Call, @Nullable Object> answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) ->
                answer.apply(
                    new Call(
                        method.getName(), arguments == null ? List.of() : List.of(arguments)))));
  }

  private record Call(String name, List<Object> arguments) {
    IllegalStateException unexpected() {
      return new IllegalStateException(name + " is not there");
    }
  }

  @Override
  public EventBusClient get() {
    return fake(EventBusClient.class, this::client);
  }

  private @Nullable Object client(Call call) {
    return switch (call.name()) {
      case "subscribe" -> {
        handlers.add((EventHandler) call.arguments().get(2));
        CompletableFuture<Object> ready = CompletableFuture.completedFuture("");
        yield fake(Subscription.class, asked -> ready);
      }
      case "publish" -> {
        topics.add((String) call.arguments().get(0));
        deliver((Event) call.arguments().get(1));
        yield confirmation;
      }
      case "counters" -> new ClientCounters(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
      case "connection" -> Optional.empty();
      case "close" -> {
        closed++;
        yield true;
      }
      default -> throw call.unexpected();
    };
  }

  private void deliver(Event event) {
    for (byte[] payload : path.apply(event.payload().clone())) {
      ReceivedEvent received =
          fake(
              ReceivedEvent.class,
              call -> {
                if (!call.name().equals("payloadBuffer")) {
                  throw call.unexpected();
                }
                return ByteBuffer.wrap(payload).asReadOnlyBuffer();
              });
      for (EventHandler handler : handlers) {
        try {
          handler.onEvent(received);
        } catch (Exception e) {
          throw new IllegalStateException(e);
        }
      }
    }
  }
}
