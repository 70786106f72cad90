/** Tests of the documentation: its links, its code and its commands. */
@NullMarked
package io.eventbus.docs;

import org.jspecify.annotations.NullMarked;
