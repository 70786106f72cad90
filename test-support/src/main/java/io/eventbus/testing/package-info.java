/** Code that the tests of several modules share. */
@NullMarked
package io.eventbus.testing;

import org.jspecify.annotations.NullMarked;
