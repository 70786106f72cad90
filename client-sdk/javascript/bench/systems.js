// The measured systems: each makes a publisher and a subscriber with the same interface, also in a page.

/** Returns the callback of a subscriber, which reads every event. */
export function sink(onChunk) {
  let count = 0;
  let sum = 0;
  return payload => {
    // Read, so that no system gains by leaving the payload alone.
    sum = (sum + payload[0] + payload[payload.length - 1]) | 0;
    if (++count % 1000 === 0) {
      onChunk(count);
    }
    return sum;
  };
}

const SUBJECT = 'bench.x';

export async function eventbus({ url, WebSocket, consume = 'handler' }) {
  const { connect } = await import('../src/index.js');
  const bus = await connect(WebSocket ? { url, WebSocket } : url);
  const lost = { events: 0 };
  bus.on('gap', ({ from, to }) => { lost.events += to - from + 1; });
  return {
    lost,
    async subscribe(take) {
      if (consume === 'handler') {
        await bus.subscribe(SUBJECT, { overflow: 'BLOCK' }, event => void take(event.payload)).ready;
        return;
      }
      const subscription = bus.subscribe(SUBJECT, { overflow: 'BLOCK' });
      await subscription.ready;
      (async () => {
        if (consume === 'batches') {
          for await (const events of subscription.batches()) {
            events.forEach(event => take(event.payload));
          }
        } else {
          for await (const event of subscription) {
            take(event.payload);
          }
        }
      })();
    },
    send: payload => bus.send(SUBJECT, payload),
    room: () => bus.room(),
    publish: payload => bus.publish(SUBJECT, payload),
    flush: () => bus.flush(),
    close: () => bus.close({ timeout: 1000 }),
  };
}

export async function nats({ url, consume = 'handler' }) {
  const connection = url.startsWith('ws')
    ? await (await import('@nats-io/nats-core')).wsconnect({ servers: url })
    : await (await import('@nats-io/transport-node')).connect({ servers: url });
  return {
    lost: { events: 0 },
    async subscribe(take) {
      if (consume === 'handler') {
        connection.subscribe(SUBJECT, { callback: (error, message) => void take(message.data) });
      } else {
        const subscription = connection.subscribe(SUBJECT);
        (async () => {
          for await (const message of subscription) {
            take(message.data);
          }
        })();
      }
      await connection.flush();
    },
    send(payload) {
      connection.publish(SUBJECT, payload);
      return true;
    },
    room: async () => {},
    flush: () => connection.flush(),
    close: () => connection.close(),
  };
}
