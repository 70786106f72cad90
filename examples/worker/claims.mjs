// What a worker does with one departed flight. It has no bus, so that claims.test.mjs tests it without one.

const LATE_MINUTES = 60;

/**
 * Returns the handler of a worker that pays for late flights.
 * @param {(position: number, claim: {flight: string, delay: number}) => Promise<boolean>} pay pays once for a position, because an event may come more than
 *   once; returns whether it was the first time
 * @param {(line: string) => void} say
 */
export const payer = (pay, say) => async (event, delivery) => {
  const departed = read(event);
  if (!departed) {
    delivery.reject('not a departed flight');            // it would fail each time, and is a dead letter at once
  } else if (departed.delay >= LATE_MINUTES) {
    const { carrier, flight, delay } = departed;
    // If it fails, the flight comes again after a pause, to this worker or to another one.
    if (await pay(event.position, { flight: `${carrier} ${flight}`, delay })) {
      say(`paid for ${carrier} ${flight}, ${delay} minutes late`);
    }
  }
};

function read(event) {
  try {
    const departed = event.json();
    return typeof departed?.delay === 'number' ? departed : null;
  } catch {
    return null;
  }
}
