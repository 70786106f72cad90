package io.eventbus.loadtest.faults.clients;

import io.eventbus.client.ReceivedEvent;
import io.eventbus.loadtest.faults.history.EventName;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** Payload of an event: its name, and a filling. */
final class EventText {
  private static final int MAX_FILLING = 600;

  private EventText() {}

  static byte[] of(EventName event, Random random) {
    byte[] name = (event.producer() + " " + event.number() + " ").getBytes(StandardCharsets.UTF_8);
    byte[] payload = Arrays.copyOf(name, name.length + random.nextInt(MAX_FILLING));
    for (int i = name.length; i < payload.length; i++) {
      payload[i] = (byte) ('a' + i % 26);
    }
    return payload;
  }

  /** Returns the name of an event; one that nobody has published if the payload is damaged. */
  static EventName name(ReceivedEvent event) {
    String text = event.text();
    String[] parts = text.split(" ", 3);
    try {
      if (parts.length == 3) {
        return new EventName(parts[0], event.topic(), Long.parseLong(parts[1]));
      }
    } catch (NumberFormatException e) {
      return damaged(event, text);
    }
    return damaged(event, text);
  }

  private static EventName damaged(ReceivedEvent event, String text) {
    String shown = text.substring(0, Math.min(text.length(), 40));
    return new EventName("damaged: " + shown, event.topic(), 0);
  }
}
